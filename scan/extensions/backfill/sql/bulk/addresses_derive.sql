-- In DuckDB: every address that appears in the files.
-- params: none
-- returns: the columns of the table addresses in DuckDB
-- index: none
SELECT a.*
FROM addresses_expected() a
WHERE in_bucket(a.address);
