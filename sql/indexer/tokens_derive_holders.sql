-- Derives who holds what of tokens whose life is another now, of whom nobody holds anything yet, by all of
-- their transfers.
-- params: addresses bytea[]
-- returns: nothing
-- index: token_transfers_by_token, token_transfers_by_item, token_holders_pkey, item_balances_pkey,
--   token_items_pkey, addresses_pkey, tokens_pkey
WITH holders AS (
    INSERT INTO token_holders (holder, token_address, balance)
    SELECT h.holder, h.token_address, h.balance
    FROM token_holders_changes(all_blocks()) h
    WHERE h.token_address = ANY (%(addresses)s::bytea[])
    RETURNING token_address, balance
), counted AS (
    UPDATE tokens k
    SET holder_count = h.holders, held_supply = coalesce(h.held, 0)
    FROM (
        SELECT token_address, count(*) FILTER (WHERE balance > 0) AS holders,
            sum(balance) FILTER (WHERE balance > 0) AS held
        FROM holders
        GROUP BY token_address
    ) AS h
    WHERE k.address = h.token_address
), balances AS (
    INSERT INTO item_balances (holder, first_ordinal, balance)
    SELECT b.holder, b.first_ordinal, b.balance
    FROM item_balances_changes(all_blocks()) b
    WHERE b.token_address = ANY (%(addresses)s::bytea[])
    RETURNING holder, first_ordinal, balance
), items AS MATERIALIZED (
    SELECT i.token_address, i.first_ordinal, item_owner(i.type, x.to_address) AS owner,
        CASE WHEN has_amounts(i.type) THEN (
            SELECT count(*) FROM balances b
            WHERE b.first_ordinal = i.first_ordinal AND b.balance > 0) END AS owner_count
    FROM token_items_changes(all_blocks()) i
    JOIN token_transfers x ON x.ordinal = i.last_ordinal
    WHERE i.token_address = ANY (%(addresses)s::bytea[])
        AND is_of_present_life(i.token_address, x.block_number, x.log_index)
), owners AS (
    UPDATE token_items i
    SET owner = n.owner, owner_count = n.owner_count
    FROM items n
    WHERE i.token_address = n.token_address AND i.first_ordinal = n.first_ordinal
)
UPDATE addresses a
SET item_count = nullif(coalesce(a.item_count, 0) + o.items, 0)
FROM (
    SELECT p.holder, count(*) AS items
    FROM (
        SELECT owner AS holder FROM items WHERE owner IS NOT NULL
        UNION ALL
        SELECT holder FROM balances WHERE balance > 0
    ) AS p
    GROUP BY p.holder
) AS o
WHERE a.address = o.holder;
