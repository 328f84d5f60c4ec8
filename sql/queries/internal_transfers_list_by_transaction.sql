-- Internal transfers of one transaction, in the order of the calls: a part of its block's ordinals.
-- params: hash bytea, limit integer, offset bigint
-- literals: limit
-- returns: one row: index version, data (JSON text), count in data, total, whether its block has or
--   needs no traces; null data where no such transaction is indexed
-- index: transactions_by_hash, blocks_pkey, internal_transfers_pkey
WITH asked AS MATERIALIZED (
    SELECT t.hash, t.transaction_index, b.timestamp, b.traced IS NOT FALSE AS is_traced,
        b.internal_transfers_before AS first,
        b.internal_transfers_before + b.internal_transfer_count - 1 AS last
    FROM transactions t
    JOIN blocks b ON b.number = t.block_number
    WHERE t.hash = %(hash)s
    LIMIT 1
), found AS MATERIALIZED (
    SELECT i
    FROM asked, internal_transfers i
    WHERE i.ordinal BETWEEN (SELECT first FROM asked) AND (SELECT last FROM asked)
        AND i.transaction_index = asked.transaction_index
), page AS (
    SELECT found.i FROM found ORDER BY (found.i).ordinal LIMIT %(limit)s OFFSET %(offset)s
)
SELECT index_version(),
    (SELECT json_list((
        SELECT string_agg(internal_transfer_record(page.i, asked.hash, asked.timestamp)::text, ','
            ORDER BY (page.i).ordinal)
        FROM page)) FROM asked),
    (SELECT count(*) FROM page),
    (SELECT count(*) FROM found),
    (SELECT is_traced FROM asked);
