-- In DuckDB: the text of rows of dex_trades, of one partition.
-- params: none
-- returns: the table's columns
-- index: none
SELECT d.ordinal, d.block_number, d.log_index, d.transaction_index, x.dex_id,
    bytea_text(d.pool_address) AS pool_address, bytea_text(d.maker) AS maker,
    bytea_text(d.token_in) AS token_in, bytea_text(d.token_out) AS token_out,
    uint256_text(d.amount_in_0, d.amount_in_1, d.amount_in_2, d.amount_in_3) AS amount_in,
    uint256_text(d.amount_out_0, d.amount_out_1, d.amount_out_2, d.amount_out_3) AS amount_out
FROM dex_trades d
JOIN indexed_dexes x ON x.name = d.dex
WHERE in_partition(d.ordinal);
