-- Internal transfers of one transaction, in the order of the calls: a part of its block's ordinals.
-- params: hash bytea, direction text, limit integer, offset bigint
-- literals: direction, limit
-- returns: one row: index version, data (JSON text), total, blocks that lack traces: 0 where the
--   transaction's does not, null where it does
-- index: transactions_by_hash, blocks_pkey, internal_transfers_pkey
WITH asked AS MATERIALIZED (
    SELECT t, b, b.internal_transfers_before AS first,
        b.internal_transfers_before + b.internal_transfer_count - 1 AS last
    FROM transactions t
    JOIN blocks b ON b.number = t.block_number
    WHERE t.hash = %(hash)s
    LIMIT 1
), found AS MATERIALIZED (
    SELECT i
    FROM asked, internal_transfers i
    WHERE i.ordinal BETWEEN (SELECT first FROM asked) AND (SELECT last FROM asked)
        AND i.transaction_index = (asked.t).transaction_index
), page AS (
    SELECT found.i
    FROM found
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN (found.i).ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN (found.i).ordinal END DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
)
SELECT index_version(),
    json_list(string_agg(etherscan_internal_transfer_record(page.i, asked.t, asked.b)::text, ',')),
    (SELECT count(*) FROM found),
    CASE WHEN NOT EXISTS (SELECT FROM asked WHERE (b).traced IS FALSE) THEN 0 END
FROM asked, page;
