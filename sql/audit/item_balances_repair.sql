-- Makes balances of items what the transfers give.
-- params: none
-- returns: nothing
-- index: item_balances_pkey
WITH ceased AS (
    DELETE FROM item_balances b
    WHERE NOT EXISTS (SELECT FROM expected_item_balances e
        WHERE e.holder = b.holder AND e.first_ordinal = b.first_ordinal)
)
INSERT INTO item_balances AS b (holder, first_ordinal, balance)
SELECT holder, first_ordinal, balance
FROM expected_item_balances
ON CONFLICT (holder, first_ordinal) DO UPDATE SET balance = EXCLUDED.balance
WHERE b.balance <> EXCLUDED.balance;
