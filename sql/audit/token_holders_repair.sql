-- Makes balances of holders what the transfers give.
-- params: none
-- returns: nothing
-- index: token_holders_pkey
WITH ceased AS (
    DELETE FROM token_holders h
    WHERE NOT EXISTS (SELECT FROM expected_token_holders e
        WHERE e.holder = h.holder AND e.token_address = h.token_address)
)
INSERT INTO token_holders AS h (holder, token_address, balance)
SELECT holder, token_address, balance
FROM expected_token_holders
ON CONFLICT (holder, token_address) DO UPDATE SET balance = EXCLUDED.balance
WHERE h.balance <> EXCLUDED.balance;
