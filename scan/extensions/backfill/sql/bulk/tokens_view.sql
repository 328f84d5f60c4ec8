-- In DuckDB: tokens in the form that definitions of sql/schema/ read.
-- params: none
-- returns: nothing; makes the view tokens
-- index: none
CREATE OR REPLACE TEMPORARY VIEW tokens AS SELECT k.address, k.type, k.item_type
    FROM indexed_tokens k;
