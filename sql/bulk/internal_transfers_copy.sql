-- In DuckDB: the text of rows of internal_transfers, of one partition.
-- params: none
-- returns: the table's columns
-- index: none
SELECT ordinal, block_number, transaction_index, transfer_index, type,
    bytea_text(from_address) AS from_address, bytea_text(to_address) AS to_address,
    uint256_text(value_0, value_1, value_2, value_3) AS value
FROM internal_transfers
WHERE in_partition(ordinal);
