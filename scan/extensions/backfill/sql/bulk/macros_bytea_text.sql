-- In DuckDB: bytes as PostgreSQL reads them.
-- params: none
-- returns: nothing; makes the macro bytea_text
-- index: none
CREATE OR REPLACE TEMPORARY MACRO bytea_text(bytes) AS '\x' || hex(bytes);
