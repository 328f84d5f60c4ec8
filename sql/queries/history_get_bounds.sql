-- Between which ordinals a page of an address's history has its rows, as a few probes tell: where the address
-- was first and last seen, the range of blocks, the cursor, and for what no filter thins out the checkpoint
-- that a page at this place cannot reach beyond. As values of queries/history_list they spare PostgreSQL the
-- partitions that have none of them; read where tables are partitioned.
-- params: address bytea, is_filtered boolean, block_from bigint, block_to bigint, after bigint[] null,
--   seen_block bigint null, direction text, limit integer
-- literals: is_filtered, direction
-- returns: one row: index version, the lowest ordinals and those above the highest (bigint[]) of coin sent, coin
--   received, fees, internal transfers sent and received, tokens sent and received; last of all its
--   transactions in the range
-- index: addresses_pkey, blocks_pkey, list_checkpoints_pkey
WITH seen AS MATERIALIZED (
    SELECT greatest(%(block_from)s, max(a.first_seen)) AS first,
        least(%(block_to)s, min(a.last_seen)) AS last
    FROM addresses a
    WHERE a.address = %(address)s
), span AS MATERIALIZED (
    SELECT oldest.transactions_before AS first_transaction,
        newest.transactions_before + newest.transaction_count AS end_transaction,
        oldest.internal_transfers_before AS first_internal,
        newest.internal_transfers_before + newest.internal_transfer_count AS end_internal,
        oldest.token_transfers_before AS first_transfer,
        newest.token_transfers_before + newest.token_transfer_count AS end_transfer,
        known.transactions_before + known.transaction_count AS known_transaction,
        known.internal_transfers_before + known.internal_transfer_count AS known_internal,
        known.token_transfers_before + known.token_transfer_count AS known_transfer
    FROM (SELECT 1) AS always
    LEFT JOIN blocks oldest ON oldest.number = (SELECT b.number FROM blocks b
        WHERE b.number >= (SELECT first FROM seen) ORDER BY b.number ASC LIMIT 1)
    LEFT JOIN blocks newest ON newest.number = (SELECT b.number FROM blocks b
        WHERE b.number <= (SELECT last FROM seen) ORDER BY b.number DESC LIMIT 1)
    LEFT JOIN blocks known ON known.number = %(seen_block)s AND %(direction)s = 'desc'
), lists AS MATERIALIZED (
    SELECT v.number, v.list, coalesce(v.entries, 0) AS entries,
        greatest(coalesce(v.first, 9223372036854775807),
            CASE WHEN %(direction)s = 'asc' THEN v.after END) AS low,
        least(coalesce(v.beyond, 0), CASE WHEN %(direction)s = 'desc' THEN v.after END, v.known) AS high
    FROM span s
    CROSS JOIN (SELECT %(after)s::bigint[] AS a) AS given
    LEFT JOIN addresses c ON c.address = %(address)s
    CROSS JOIN LATERAL (VALUES
        (1, 'coin_by_from', c.coin_sent_count,
            s.first_transaction, s.end_transaction, s.known_transaction, a[1]),
        (2, 'coin_by_to', c.coin_received_count,
            s.first_transaction, s.end_transaction, s.known_transaction, a[1]),
        (3, 'transactions_by_from', c.sent_count,
            s.first_transaction, s.end_transaction, s.known_transaction, a[2]),
        (4, 'internal_transfers_by_from', c.internal_sent_count,
            s.first_internal, s.end_internal, s.known_internal, a[3]),
        (5, 'internal_transfers_by_to', c.internal_received_count,
            s.first_internal, s.end_internal, s.known_internal, a[3]),
        (6, 'token_transfers_by_from', c.transfer_sent_count,
            s.first_transfer, s.end_transfer, s.known_transfer, a[4]),
        (7, 'token_transfers_by_to', c.transfer_received_count,
            s.first_transfer, s.end_transfer, s.known_transfer, a[4]),
        (8, 'transactions', 0, s.first_transaction, s.end_transaction, NULL, NULL)
    ) AS v (number, list, entries, first, beyond, known, after)
), windows AS (
    SELECT l.number,
        CASE WHEN %(direction)s = 'desc' THEN greatest(l.low, reached.ordinal) ELSE l.low END AS low,
        CASE WHEN %(direction)s = 'asc' THEN least(l.high, reached.ordinal + 1) ELSE l.high END AS high
    FROM lists l
    -- Where the page begins is up to checkpoint_every() entries behind the checkpoint before it.
    LEFT JOIN LATERAL (
        SELECT k.ordinal
        FROM checkpoint_before(l.list, %(address)s, l.entries,
            CASE WHEN %(direction)s = 'asc' THEN l.low ELSE l.high END) AS start
        JOIN list_checkpoints k ON k.list = l.list AND k.key = %(address)s
            AND (%(direction)s <> 'asc' OR k.place >= start.place + checkpoint_every() + %(limit)s)
            AND (%(direction)s <> 'desc' OR k.place <= start.place - %(limit)s)
        WHERE NOT %(is_filtered)s AND l.entries > checkpoint_every()
        ORDER BY CASE WHEN %(direction)s = 'asc' THEN k.place END ASC,
            CASE WHEN %(direction)s = 'desc' THEN k.place END DESC
        LIMIT 1
    ) AS reached ON true
)
SELECT index_version(), array_agg(w.low ORDER BY w.number), array_agg(w.high ORDER BY w.number)
FROM windows w;
