-- DEX trades by maker, by exchange, or by both.
-- See "Pages of the long lists" in schema.sql.
-- params: maker bytea null, dex text null, has_maker boolean, has_dex boolean,
--   block_from bigint, block_to bigint, has_lower boolean, has_upper boolean, has_list boolean,
--   list text null, key bytea null, direction text, limit integer, offset bigint
-- literals: has_maker, has_dex, has_list, list, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), count in data, total of the list where there
--   is one
-- index: dex_trades_by_maker, dex_trades_by_dex, list_checkpoints_pkey, dex_trades_pkey,
--   transactions_pkey, dexes_pkey, blocks_pkey
WITH entries AS (
    SELECT coalesce(CASE %(list)s
        WHEN 'dex_trades_by_maker' THEN (
            SELECT a.trade_count FROM addresses a WHERE a.address = %(key)s)
        WHEN 'dex_trades_by_dex' THEN (
            SELECT x.trade_count FROM dexes x WHERE x.name = %(dex)s) END, 0) AS total
), start AS (
    SELECT s.ordinal, s.pass
    FROM entries, list_start(%(list)s, %(key)s, entries.total, %(offset)s, %(direction)s) AS s
), ordinals AS (
    SELECT first, last FROM dex_trade_ordinals(%(block_from)s, %(block_to)s)
), bounds AS (
    SELECT CASE WHEN %(has_list)s THEN (SELECT ordinal FROM start)
            ELSE (SELECT first FROM ordinals) END AS lowest,
        CASE WHEN %(has_list)s THEN (SELECT ordinal FROM start)
            ELSE (SELECT last FROM ordinals) END AS highest
), page AS (
    SELECT ordinal
    FROM (
        SELECT d.ordinal
        FROM dex_trades d
        WHERE (NOT %(has_maker)s OR d.maker = %(maker)s)
            AND (NOT %(has_dex)s
                OR d.dex_id = (SELECT x.dex_id FROM dexes x WHERE x.name = %(dex)s))
            AND (NOT %(has_lower)s OR d.ordinal >= (SELECT lowest FROM bounds))
            AND (NOT %(has_upper)s
                OR (d.ordinal, d.ordinal) <= (SELECT highest, highest FROM bounds))
        ORDER BY CASE WHEN %(direction)s = 'asc' THEN d.ordinal END ASC,
            CASE WHEN %(direction)s = 'desc' THEN d.ordinal END DESC
        LIMIT entries_to_read(%(has_list)s, %(offset)s, %(limit)s)
    ) AS places
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN ordinal END DESC
    LIMIT %(limit)s
    OFFSET (SELECT pass FROM start)
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT dex_trade_record(d,
            (SELECT t.hash FROM transactions t
                WHERE t.ordinal = b.transactions_before + d.transaction_index),
            (SELECT x.name FROM dexes x WHERE x.dex_id = d.dex_id),
            b.timestamp)::text
        FROM dex_trades d
        JOIN blocks b ON b.number = d.block_number
        WHERE d.ordinal = page.ordinal), ',')),
    count(*),
    (SELECT total FROM entries)
FROM page;
