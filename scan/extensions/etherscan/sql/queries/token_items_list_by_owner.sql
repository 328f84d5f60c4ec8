-- The ids of a BEP721 token's items that an address owns, those first moved last first.
-- params: owner bytea, token bytea, most integer, limit integer, offset bigint
-- literals: none
-- returns: one row: index version, ids (text[]), total; null where the owner has more than `most` items, of
--   all tokens
-- index: addresses_pkey, token_items_by_owner
WITH owned AS MATERIALIZED (
    SELECT i.first_ordinal
    FROM token_items i
    WHERE i.owner = %(owner)s AND i.token_address = %(token)s
        AND (SELECT a.item_count FROM addresses a WHERE a.address = %(owner)s) <= %(most)s
)
SELECT index_version(),
    ARRAY(
        SELECT token_id_of(page.first_ordinal)::text
        FROM (
            SELECT o.first_ordinal
            FROM owned o
            ORDER BY o.first_ordinal DESC
            LIMIT %(limit)s
            OFFSET %(offset)s
        ) AS page
        ORDER BY page.first_ordinal DESC),
    CASE WHEN (SELECT a.item_count FROM addresses a WHERE a.address = %(owner)s) > %(most)s THEN NULL
        ELSE (SELECT count(*) FROM owned) END;
