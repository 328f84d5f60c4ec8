-- Transfers of one token, in a range of blocks, at any depth; none where it is of another type.
-- See sql/queries/etherscan_transactions_list.sql.
-- params: token bytea, type text, block_from bigint, block_to bigint, has_lower boolean,
--   has_upper boolean, direction text, limit integer, offset bigint
-- literals: has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), total in the range
-- index: token_transfers_by_token, list_checkpoints_pkey, token_transfers_pkey, transactions_pkey,
--   tokens_pkey, blocks_pkey
WITH entries AS (
    SELECT coalesce((
        SELECT k.transfer_count FROM tokens k
        WHERE k.address = %(token)s AND k.type = %(type)s), 0) AS total
), ordinals AS (
    SELECT first, last FROM token_transfer_ordinals(%(block_from)s, %(block_to)s)
), span AS MATERIALIZED (
    SELECT entries.total AS list_total,
        CASE WHEN NOT %(has_lower)s OR entries.total = 0 THEN 0 ELSE coalesce((
            SELECT transfers_of_token_before(%(token)s, entries.total, ordinals.first)
            FROM ordinals), entries.total) END AS first_place,
        CASE WHEN NOT %(has_upper)s OR entries.total = 0 THEN entries.total ELSE coalesce((
            SELECT transfers_of_token_before(%(token)s, entries.total, ordinals.last + 1)
            FROM ordinals), 0) END AS end_place
    FROM entries
), start AS MATERIALIZED (
    SELECT s.ordinal, s.pass
    FROM span, list_start('token_transfers_by_token', %(token)s, span.list_total,
        CASE WHEN %(direction)s = 'asc' THEN span.first_place
            ELSE span.list_total - span.end_place END + %(offset)s, %(direction)s) AS s
), page AS (
    SELECT x.ordinal
    FROM token_transfers x
    WHERE x.token_address = %(token)s
        AND (%(direction)s <> 'asc' OR x.ordinal >= (SELECT ordinal FROM start))
        AND (%(direction)s <> 'desc' OR x.ordinal <= (SELECT ordinal FROM start))
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN x.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN x.ordinal END DESC
    LIMIT (SELECT least(%(limit)s, greatest(end_place - first_place - %(offset)s, 0)) FROM span)
    OFFSET (SELECT pass FROM start)
), head AS MATERIALIZED (
    SELECT max(b.number) AS number FROM blocks b
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT etherscan_token_transfer_record(x, t, b, k, (SELECT number FROM head))::text
        FROM token_transfers x
        JOIN blocks b ON b.number = x.block_number
        JOIN transactions t ON t.ordinal = b.transactions_before + x.transaction_index
        JOIN tokens k ON k.address = x.token_address
        WHERE x.ordinal = page.ordinal), ',')),
    (SELECT greatest(end_place - first_place, 0) FROM span)
FROM page;
