-- In DuckDB: the text of rows of addresses.
-- params: none
-- returns: the table's columns
-- index: none
SELECT a.* REPLACE (bytea_text(a.address) AS address)
FROM addresses a;
