-- In DuckDB: the log from which on each token is one. Its events before that log do not count: those of
-- another form in the block where it was found, and those of the time when a Deposit was not taken for a
-- mint.
-- params: none
-- returns: nothing; makes the table decided_tokens
-- index: none
CREATE OR REPLACE TABLE decided_tokens AS
SELECT k.address, k.type, k.wraps, k.block_number AS since_block,
    min(s.log_index) FILTER (WHERE s.sight = 'transfer' OR NOT k.was_rejected) AS since_log
FROM indexed_tokens k
JOIN event_sights_files s ON s.address = k.address AND s.block_number = k.block_number
    AND s.sight IN ('transfer', 'wrap')
GROUP BY k.address, k.type, k.wraps, k.block_number;
