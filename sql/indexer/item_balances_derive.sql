-- Moves the balances of items that have amounts by the transfers of blocks already written, and counts their owners;
-- sign -1 takes the same back. It runs after token_items_derive, whose rows have these counters.
-- params: span block_range, sign integer
-- literals: sign
-- returns: nothing
-- index: token_transfers_pkey, token_transfers_by_item, item_balances_pkey, token_items_pkey,
--   addresses_pkey, tokens_pkey
WITH changes AS MATERIALIZED (
    SELECT holder, token_address, first_ordinal, balance * %(sign)s AS amount
    FROM item_balances_changes(%(span)s::block_range)
), balances AS MATERIALIZED (
    SELECT c.holder, c.token_address, c.first_ordinal, coalesce(b.balance, 0) AS before,
        coalesce(b.balance, 0) + c.amount AS after
    FROM changes c
    LEFT JOIN LATERAL (
        SELECT s.balance
        FROM item_balances s
        WHERE s.holder = c.holder AND s.first_ordinal = c.first_ordinal
        LIMIT 1
    ) AS b ON true
), ended AS (
    DELETE FROM item_balances s
    USING balances b
    WHERE b.after = 0 AND s.holder = b.holder AND s.first_ordinal = b.first_ordinal
), written AS (
    INSERT INTO item_balances (holder, first_ordinal, balance)
    SELECT holder, first_ordinal, after
    FROM balances
    WHERE after <> 0
    ON CONFLICT (holder, first_ordinal) DO UPDATE SET balance = EXCLUDED.balance
), counted AS (
    UPDATE token_items i
    SET owner_count = i.owner_count + d.owners
    FROM (
        SELECT token_address, first_ordinal,
            sum((after > 0)::integer - (before > 0)::integer) AS owners
        FROM balances
        GROUP BY token_address, first_ordinal
    ) AS d
    WHERE d.owners <> 0 AND i.token_address = d.token_address
        AND i.first_ordinal = d.first_ordinal
)
UPDATE addresses a
SET item_count = nullif(coalesce(a.item_count, 0) + d.items, 0)
FROM (
    SELECT holder, sum((after > 0)::integer - (before > 0)::integer) AS items
    FROM balances
    GROUP BY holder
) AS d
WHERE d.items <> 0 AND a.address = d.holder;
