-- The items of a token, those first moved last first. See "Pages of the long lists" in
-- sql/schema/lists.sql.
-- params: address bytea, limit integer, offset bigint, after bigint null
-- literals: limit
-- returns: one row: index version, data (JSON text), count in data, total, type (null where there
--   is no such token); for cursors: first ordinal of the last row where more follow
-- index: tokens_pkey, list_checkpoints_pkey, token_items_pkey, token_transfers_pkey
WITH token AS (
    SELECT moved_type(k, 0) AS type, k.item_count FROM tokens k WHERE k.address = %(address)s
), start AS (
    SELECT s.ordinal, s.pass
    FROM token, list_start(
        'token_items_by_token', %(address)s, token.item_count, %(offset)s, 'desc') AS s
    WHERE %(after)s IS NULL
    UNION ALL
    SELECT %(after)s - 1, 0
    WHERE %(after)s IS NOT NULL
), page AS (
    SELECT i.first_ordinal
    FROM token_items i
    WHERE i.token_address = %(address)s AND i.first_ordinal <= (SELECT ordinal FROM start)
    ORDER BY i.first_ordinal DESC
    LIMIT %(limit)s
    OFFSET (SELECT pass FROM start)
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT token_item_record(i,
            token_id_of(page.first_ordinal),
            (SELECT type FROM token))::text
        FROM token_items i
        WHERE i.token_address = %(address)s AND i.first_ordinal = page.first_ordinal), ',')),
    count(*),
    (SELECT item_count FROM token),
    (SELECT type FROM token),
    CASE WHEN EXISTS (
            SELECT FROM token_items i
            WHERE i.token_address = %(address)s AND i.first_ordinal < min(page.first_ordinal))
        THEN min(page.first_ordinal) END
FROM page;
