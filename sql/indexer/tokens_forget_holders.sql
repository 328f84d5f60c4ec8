-- Forgets who holds what of tokens whose life is another now.
-- params: addresses bytea[]
-- returns: nothing
-- index: token_holders_by_balance, token_items_pkey, item_balances_by_item, addresses_pkey, tokens_pkey
WITH forgotten AS (
    DELETE FROM token_holders WHERE token_address = ANY (%(addresses)s::bytea[])
), items AS (
    SELECT i.token_address, i.first_ordinal, i.owner
    FROM token_items i
    WHERE i.token_address = ANY (%(addresses)s::bytea[])
), balances AS (
    DELETE FROM item_balances b
    USING items i
    WHERE b.first_ordinal = i.first_ordinal
    RETURNING b.holder, b.balance
), owned AS (
    UPDATE addresses a
    SET item_count = nullif(coalesce(a.item_count, 0) - o.items, 0)
    FROM (
        SELECT p.holder, count(*) AS items
        FROM (
            SELECT owner AS holder FROM items WHERE owner IS NOT NULL
            UNION ALL
            SELECT holder FROM balances WHERE balance > 0
        ) AS p
        GROUP BY p.holder
    ) AS o
    WHERE a.address = o.holder
), without_owners AS (
    UPDATE token_items i
    SET owner = NULL, owner_count = CASE WHEN has_amounts(coalesce(k.item_type, k.type)) THEN 0 END
    FROM tokens k
    WHERE k.address = ANY (%(addresses)s::bytea[]) AND i.token_address = k.address
)
UPDATE tokens
SET holder_count = 0, held_supply = 0
WHERE address = ANY (%(addresses)s::bytea[]);
