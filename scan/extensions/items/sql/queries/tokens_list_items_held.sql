-- The items of a token that an address owns, those first moved last first.
-- params: token bytea, address bytea, limit integer, after bigint null
-- literals: limit
-- returns: one row: index version, data (JSON text), count in data, the token's type (null where there is no
--   such token); for cursors: first ordinal of the last row where more may follow
-- index: tokens_pkey, token_items_by_owner, item_balances_pkey, token_transfers_pkey
WITH owned AS (
    SELECT i.first_ordinal, 1::numeric AS balance
    FROM token_items i
    WHERE i.owner = %(address)s AND i.token_address = %(token)s
        AND (%(after)s IS NULL OR i.first_ordinal < %(after)s)
    UNION ALL
    SELECT b.first_ordinal, b.balance
    FROM item_balances b
    JOIN token_items i ON i.token_address = %(token)s AND i.first_ordinal = b.first_ordinal
    WHERE b.holder = %(address)s AND b.balance > 0
        AND (%(after)s IS NULL OR b.first_ordinal < %(after)s)
), page AS (
    SELECT first_ordinal, balance
    FROM owned
    ORDER BY first_ordinal DESC
    LIMIT %(limit)s
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT item_balance_record(k, token_id_of(page.first_ordinal), page.balance)::text
        FROM tokens k
        WHERE k.address = %(token)s), ',' ORDER BY page.first_ordinal DESC)),
    count(*),
    (SELECT moved_type(k, 0) FROM tokens k WHERE k.address = %(token)s),
    CASE WHEN count(*) = %(limit)s THEN min(page.first_ordinal) END
FROM page;
