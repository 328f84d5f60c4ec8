-- In DuckDB: an array of bytes as PostgreSQL reads it; null where it is null.
-- params: none
-- returns: nothing; makes the macro bytea_array_text
-- index: none
CREATE OR REPLACE TEMPORARY MACRO bytea_array_text(hashes) AS '{'
    || array_to_string(list_transform(hashes, lambda hash: '"\\x' || hex(hash) || '"'), ',')
    || '}';
