-- In DuckDB: tokens in the form that definitions of sql/schema/ read.
-- params: none
-- returns: nothing; makes the view tokens
-- index: none
CREATE OR REPLACE TEMPORARY VIEW tokens AS
SELECT k.address, k.type, k.item_type, k.block_number, k.log_index, k.ended_in, k.has_holdings,
    nullif(k.has_lives, false) AS earlier_lives
FROM indexed_tokens k
WHERE k.is_present;
