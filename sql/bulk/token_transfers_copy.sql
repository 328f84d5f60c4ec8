-- In DuckDB: the text of rows of token_transfers, of one partition.
-- params: none
-- returns: the table's columns
-- index: none
SELECT ordinal, block_number, log_index, batch_index, transaction_index,
    bytea_text(token_address) AS token_address, bytea_text(from_address) AS from_address,
    bytea_text(to_address) AS to_address,
    uint256_text(value_0, value_1, value_2, value_3) AS value,
    uint256_text(token_id_0, token_id_1, token_id_2, token_id_3) AS token_id
FROM token_transfers
WHERE in_partition(ordinal);
