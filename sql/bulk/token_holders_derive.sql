-- In DuckDB: net balances of holders.
-- params: none
-- returns: what the table token_holders of DuckDB is made of
-- index: none
SELECT h.holder, h.token_address, h.balance
FROM token_holders_expected() h
WHERE in_bucket(h.holder);
