-- In DuckDB: the text of rows of token_holders.
-- params: none
-- returns: the table's columns
-- index: none
SELECT bytea_text(holder) AS holder, bytea_text(token_address) AS token_address, balance
FROM token_holders;
