-- In DuckDB: every address seen.
-- params: none
-- returns: what the table addresses of DuckDB is made of
-- index: none
SELECT a.*
FROM addresses_expected() a
WHERE in_bucket(a.address);
