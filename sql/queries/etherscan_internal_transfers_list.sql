-- Internal transfers that an address sent or received, in a range of blocks, at any depth.
-- The range becomes a range of places in the address's list, whose pages start at a checkpoint.
-- See "Pages of the long lists" in schema.sql.
-- params: address bytea, block_from bigint, block_to bigint, has_lower boolean, has_upper boolean,
--   direction text, limit integer, offset bigint
-- literals: has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), total in the range, blocks that lack traces
--   (null: none has any)
-- index: internal_transfers_by_from, internal_transfers_by_to, list_checkpoints_pkey,
--   internal_transfers_pkey, transactions_pkey, blocks_pkey
WITH entries AS (
    SELECT coalesce((
        SELECT a.internal_count FROM addresses a WHERE a.address = %(address)s), 0) AS total
), ordinals AS (
    SELECT first, last FROM internal_transfer_ordinals(%(block_from)s, %(block_to)s)
), span AS MATERIALIZED (
    SELECT entries.total AS list_total,
        CASE WHEN NOT %(has_lower)s THEN 0 ELSE coalesce((
            SELECT internal_transfers_of_address_before(%(address)s, entries.total, ordinals.first)
            FROM ordinals), entries.total) END AS first_place,
        CASE WHEN NOT %(has_upper)s THEN entries.total ELSE coalesce((
            SELECT internal_transfers_of_address_before(%(address)s, entries.total, ordinals.last + 1)
            FROM ordinals), 0) END AS end_place
    FROM entries
), start AS MATERIALIZED (
    SELECT s.ordinal, s.pass
    FROM span, list_start('internal_transfers_by_address', %(address)s, span.list_total,
        CASE WHEN %(direction)s = 'asc' THEN span.first_place
            ELSE span.list_total - span.end_place END + %(offset)s, %(direction)s) AS s
), page AS (
    SELECT ordinal
    FROM (
        (
            SELECT i.ordinal
            FROM internal_transfers i
            WHERE i.from_address = %(address)s
                AND (%(direction)s <> 'asc' OR i.ordinal >= (SELECT ordinal FROM start))
                AND (%(direction)s <> 'desc' OR i.ordinal <= (SELECT ordinal FROM start))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN i.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN i.ordinal END DESC
            LIMIT entries_to_read(true, 0, %(limit)s)
        )
        UNION ALL
        (
            SELECT i.ordinal
            FROM internal_transfers i
            WHERE i.to_address = %(address)s AND i.to_address <> i.from_address
                AND (%(direction)s <> 'asc' OR i.ordinal >= (SELECT ordinal FROM start))
                AND (%(direction)s <> 'desc' OR i.ordinal <= (SELECT ordinal FROM start))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN i.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN i.ordinal END DESC
            LIMIT entries_to_read(true, 0, %(limit)s)
        )
    ) AS places
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN ordinal END DESC
    LIMIT (SELECT least(%(limit)s, greatest(end_place - first_place - %(offset)s, 0)) FROM span)
    OFFSET (SELECT pass FROM start)
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT etherscan_internal_transfer_record(i, t, b)::text
        FROM internal_transfers i
        JOIN blocks b ON b.number = i.block_number
        JOIN transactions t ON t.ordinal = b.transactions_before + i.transaction_index
        WHERE i.ordinal = page.ordinal), ',')),
    (SELECT greatest(end_place - first_place, 0) FROM span),
    untraced_blocks()
FROM page;
