-- In DuckDB: the text of rows of token_items.
-- params: none
-- returns: the table's columns
-- index: none
SELECT bytea_text(token_address) AS token_address, first_ordinal, transfer_count,
    bytea_text(owner) AS owner, owner_count
FROM token_items;
