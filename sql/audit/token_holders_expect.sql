-- Net balances by all transfers.
-- params: none
-- returns: nothing; makes the temporary table expected_token_holders
-- index: none
CREATE TEMPORARY TABLE expected_token_holders ON COMMIT DROP AS
SELECT holder, token_address, sum(amount) AS balance
FROM (
    SELECT to_address AS holder, token_address, value AS amount FROM token_transfers
    UNION ALL
    SELECT from_address, token_address, -value FROM token_transfers
) AS moves
WHERE holder <> '\x0000000000000000000000000000000000000000'::bytea
GROUP BY holder, token_address
HAVING sum(amount) <> 0;
