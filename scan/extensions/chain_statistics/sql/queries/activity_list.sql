-- Transactions and gas over equal spans of time, oldest first, up to the head's time. Blocks are
-- found by halving, since times grow with numbers: 27 probes for 100 million blocks. Gas is summed
-- over at most 200 blocks of a span, evenly spread, and scaled to all of them.
-- params: span_s bigint, spans integer
-- literals: none
-- returns: one row: index version, JSON text [{"start": Unix seconds, "transactions", "gasUsed",
--   "blocks", "sampled": whether gasUsed is an estimate}], empty before the first block
-- index: blocks_pkey
WITH RECURSIVE head AS MATERIALIZED (
    SELECT b.number, b.transactions_before + b.transaction_count AS transactions,
        div(extract(epoch FROM b.timestamp), %(span_s)s)::bigint * %(span_s)s AS start,
        (SELECT first.number FROM blocks first ORDER BY first.number ASC LIMIT 1) AS oldest
    FROM blocks b
    ORDER BY b.number DESC
    LIMIT 1
), halving AS (
    SELECT to_timestamp(head.start - position * %(span_s)s) AS boundary, position,
        head.oldest AS low, head.number + 1 AS high
    FROM head, generate_series(-1, %(spans)s - 1) AS position
    UNION ALL
    SELECT boundary, position,
        CASE WHEN is_before THEN middle + 1 ELSE low END,
        CASE WHEN is_before THEN high ELSE middle END
    FROM (
        SELECT h.boundary, h.position, h.low, h.high, (h.low + h.high) / 2 AS middle,
            (SELECT b.timestamp < h.boundary FROM blocks b
            WHERE b.number = (h.low + h.high) / 2) AS is_before
        FROM halving h
        WHERE h.low < h.high
    ) AS probed
), boundaries AS MATERIALIZED (
    SELECT h.position, h.low AS number,
        coalesce((SELECT b.transactions_before FROM blocks b WHERE b.number = h.low),
            head.transactions) AS transactions
    FROM halving h, head
    WHERE h.low = h.high
), spans AS (
    SELECT boundaries.position, boundaries.number AS first, until.number - boundaries.number AS blocks,
        until.transactions - boundaries.transactions AS transactions
    FROM boundaries
    JOIN boundaries AS until ON until.position = boundaries.position - 1
)
SELECT index_version(), (
    SELECT json_agg(json_build_object(
        'start', head.start - spans.position * %(span_s)s,
        'transactions', spans.transactions,
        'blocks', spans.blocks,
        'gasUsed', coalesce(gas.used, 0)::text,
        'sampled', spans.blocks > 200) ORDER BY spans.position DESC)::text
    FROM head, spans, LATERAL (
        SELECT div(sum(b.gas_used) * spans.blocks, count(*)) AS used
        FROM generate_series(spans.first, spans.first + spans.blocks - 1,
            greatest((spans.blocks + 199) / 200, 1)) AS sample (number)
        JOIN blocks b ON b.number = sample.number
    ) AS gas);
