-- In DuckDB: zero_address() of sql/schema/changes.sql.
-- params: none
-- returns: nothing; makes the macro zero_address
-- index: none
CREATE OR REPLACE TEMPORARY MACRO zero_address() AS unhex(repeat('00', 20));
