-- In DuckDB: removed_first_transfer() of sql/schema/retention.sql. It is always null, as a bulk backfill
-- has all rows of the chain.
-- params: none
-- returns: nothing; makes the macro removed_first_transfer
-- index: none
CREATE OR REPLACE TEMPORARY MACRO removed_first_transfer(token, id) AS NULL::BIGINT;
