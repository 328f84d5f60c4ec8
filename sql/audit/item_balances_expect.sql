-- Net balances of BEP1155 items, by all transfers.
-- params: none
-- returns: nothing; makes the temporary table expected_item_balances
-- index: none
CREATE TEMPORARY TABLE expected_item_balances ON COMMIT DROP AS
WITH moves AS (
    SELECT to_address AS holder, token_address, token_id, value AS amount
    FROM token_transfers
    WHERE token_id IS NOT NULL
    UNION ALL
    SELECT from_address, token_address, token_id, -value
    FROM token_transfers
    WHERE token_id IS NOT NULL
), balances AS (
    SELECT holder, token_address, token_id, sum(amount) AS balance
    FROM moves
    WHERE holder <> '\x0000000000000000000000000000000000000000'::bytea
    GROUP BY holder, token_address, token_id
    HAVING sum(amount) <> 0
), items AS (
    SELECT token_address, token_id, min(ordinal) AS first_ordinal
    FROM token_transfers
    WHERE token_id IS NOT NULL
    GROUP BY token_address, token_id
)
SELECT b.holder, i.first_ordinal, b.balance
FROM balances b
JOIN items i USING (token_address, token_id)
JOIN tokens k ON k.address = b.token_address
WHERE k.type = 'BEP1155';
