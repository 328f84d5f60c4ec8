-- In DuckDB: the text of rows of the temporary table token_counts.
-- params: none
-- returns: the table's columns
-- index: none
SELECT bytea_text(address) AS address, holder_count, negative_holder_count, transfer_count,
    held_supply, item_count
FROM token_counts;
