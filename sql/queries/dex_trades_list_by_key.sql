-- DEX trades of one maker (list dex_trades_by_maker), in one pool (…_pool) or on one exchange (…_dex;
-- the key is its name in UTF-8), in a range of blocks, at any depth.
-- The range becomes a range of places in the list, whose pages start at a checkpoint.
-- See "Pages of the long lists" in schema.sql.
-- params: list text, key bytea, block_from bigint, block_to bigint, has_lower boolean,
--   has_upper boolean, direction text, limit integer, offset bigint, after bigint null,
--   seen_block bigint null
-- literals: list, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), count in data, total; for cursors: ordinal
--   of the last row where more follow, newest block of the rows, block seen
-- index: dex_trades_by_maker, dex_trades_by_dex, dex_trades_by_pool, pools_pkey,
--   list_checkpoints_pkey, addresses_pkey, dex_trades_pkey, transactions_pkey, dexes_pkey, dexes_name_key, tokens_pkey, blocks_pkey
WITH entries AS MATERIALIZED (
    SELECT coalesce(CASE %(list)s
        WHEN 'dex_trades_by_maker' THEN (
            SELECT a.trade_count FROM addresses a WHERE a.address = %(key)s)
        WHEN 'dex_trades_by_pool' THEN (
            SELECT p.trade_count FROM pools p WHERE p.address = %(key)s)
        WHEN 'dex_trades_by_dex' THEN (
            SELECT x.trade_count FROM dexes x
            WHERE x.name = convert_from(%(key)s, 'UTF8')) END, 0) AS total
), ordinals AS (
    SELECT first, last FROM dex_trade_ordinals(%(block_from)s, %(block_to)s)
), bounds AS MATERIALIZED (
    SELECT entries.total AS list_total,
        CASE WHEN NOT %(has_lower)s THEN 0 ELSE coalesce((
            SELECT dex_trade_entries_before(
                %(list)s, %(key)s, entries.total, ordinals.first)
            FROM ordinals), entries.total) END AS first_place,
        CASE WHEN NOT %(has_upper)s THEN entries.total ELSE coalesce((
            SELECT dex_trade_entries_before(
                %(list)s, %(key)s, entries.total, ordinals.last + 1)
            FROM ordinals), 0) END AS end_place
    FROM entries
), span AS MATERIALIZED (
    SELECT list_total, first_place, end_place,
        CASE WHEN %(after)s IS NULL THEN least(%(offset)s, list_total)
            WHEN %(direction)s = 'asc' THEN greatest(dex_trade_entries_before(
                %(list)s, %(key)s, list_total, %(after)s + 1) - first_place, 0)
            ELSE greatest(end_place - dex_trade_entries_before(
                %(list)s, %(key)s, list_total, %(after)s), 0) END AS skip
    FROM bounds
), start AS MATERIALIZED (
    SELECT s.ordinal, s.pass, list_end(%(list)s, %(key)s, span.list_total, passed.entries,
        %(limit)s, %(direction)s) AS beyond
    FROM span,
        LATERAL (SELECT CASE WHEN %(direction)s = 'asc' THEN span.first_place
            ELSE span.list_total - span.end_place END + span.skip AS entries) AS passed,
        list_start(
            %(list)s, %(key)s, span.list_total, passed.entries, %(direction)s) AS s
), page AS (
    SELECT d.ordinal
    FROM dex_trades d
    WHERE (%(list)s <> 'dex_trades_by_maker' OR d.maker = %(key)s)
        AND (%(list)s <> 'dex_trades_by_pool' OR d.pool_address = %(key)s)
        AND (%(list)s <> 'dex_trades_by_dex' OR d.dex_id = (
            SELECT x.dex_id FROM dexes x WHERE x.name = convert_from(%(key)s, 'UTF8')))
        AND (%(direction)s <> 'asc' OR (d.ordinal >= (SELECT ordinal FROM start)
            AND d.ordinal <= (SELECT beyond FROM start)))
        AND (%(direction)s <> 'desc' OR (d.ordinal <= (SELECT ordinal FROM start)
            AND d.ordinal >= (SELECT beyond FROM start)))
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN d.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN d.ordinal END DESC
    LIMIT (SELECT least(%(limit)s, greatest(end_place - first_place - skip, 0)) FROM span)
    OFFSET (SELECT pass FROM start)
)
SELECT index_version(),
    json_list(string_agg(entry.record, ',')),
    count(*),
    (SELECT greatest(end_place - first_place, 0) FROM span),
    CASE WHEN count(*) < (SELECT end_place - first_place - skip FROM span)
        THEN CASE %(direction)s WHEN 'asc' THEN max(page.ordinal) ELSE min(page.ordinal) END END,
    (SELECT block_reference(b) FROM blocks b WHERE b.number = max(entry.block_number)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s)
FROM page
CROSS JOIN LATERAL (
    SELECT dex_trade_record(d,
        (SELECT t.hash FROM transactions t
            WHERE t.ordinal = b.transactions_before + d.transaction_index),
        (SELECT x.name FROM dexes x WHERE x.dex_id = d.dex_id),
        b.timestamp, i, o)::text AS record, d.block_number
    FROM dex_trades d
    JOIN blocks b ON b.number = d.block_number
    LEFT JOIN tokens i ON i.address = d.token_in
    LEFT JOIN tokens o ON o.address = d.token_out
    WHERE d.ordinal = page.ordinal
    LIMIT 1
) AS entry;
