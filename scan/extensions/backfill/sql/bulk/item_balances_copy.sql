-- In DuckDB: the text of rows of item_balances.
-- params: none
-- returns: the table's columns
-- index: none
SELECT bytea_text(holder) AS holder, first_ordinal, balance FROM item_balances;
