-- Fills columns of a table where they are null, from fetched_<table>: see fill_columns() in
-- sql/schema/backfill.sql.
-- params: table text, key text, columns text[]
-- returns: one row: how many rows were filled
-- index: blocks_pkey, transactions_pkey
SELECT fill_columns(%(table)s, %(key)s, %(columns)s);
