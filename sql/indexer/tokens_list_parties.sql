-- Those who hold most of a token by its events, and least, but for itself where it has less than nothing, or some of those who hold its items.
-- params: address bytea, most integer
-- literals: most
-- returns: holder as hex digits, id of an item or null, balance as text
-- index: tokens_pkey, token_holders_by_balance, token_items_pkey, item_balances_by_item, token_transfers_pkey
WITH token AS MATERIALIZED (
    SELECT k.address, has_amounts(k.type) AS has_amounts
    FROM tokens k
    WHERE k.address = %(address)s
), parties AS (
    (SELECT h.holder, NULL::numeric AS item, h.balance
    FROM token t
    JOIN token_holders h ON h.token_address = %(address)s AND NOT t.has_amounts
    ORDER BY h.balance DESC, h.holder DESC
    LIMIT %(most)s * 2 / 3)
    UNION
    (SELECT h.holder, NULL, h.balance
    FROM token t
    JOIN token_holders h ON h.token_address = %(address)s AND NOT t.has_amounts
        AND (h.holder <> %(address)s OR h.balance > 0)
    ORDER BY h.balance, h.holder
    LIMIT %(most)s / 3)
    UNION ALL
    (SELECT b.holder, x.token_id, b.balance
    FROM token t
    JOIN token_items i ON i.token_address = t.address AND t.has_amounts
    JOIN item_balances b ON b.first_ordinal = i.first_ordinal
    JOIN token_transfers x ON x.ordinal = i.first_ordinal
    LIMIT %(most)s)
)
SELECT encode(p.holder, 'hex'), p.item::text, p.balance::text
FROM parties p;
