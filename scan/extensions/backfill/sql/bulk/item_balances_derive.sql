-- In DuckDB: net balances of items that have amounts.
-- params: none
-- returns: the columns of the table item_balances in DuckDB
-- index: none
SELECT b.holder, b.token_address, b.first_ordinal, b.balance
FROM item_balances_expected() b
WHERE in_bucket(b.token_address);
