-- In DuckDB: net balances of holders.
-- params: none
-- returns: the columns of the table token_holders in DuckDB
-- index: none
SELECT h.holder, h.token_address, h.balance
FROM token_holders_expected() h
WHERE in_bucket(h.holder);
