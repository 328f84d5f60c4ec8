-- In DuckDB: the text of rows of transactions, of one partition.
-- params: none
-- returns: the table's columns
-- index: none
SELECT ordinal, block_number, transaction_index, status, bytea_text(hash) AS hash,
    bytea_text(from_address) AS from_address, bytea_text(to_address) AS to_address,
    bytea_text(contract_address) AS contract_address,
    uint256_text(value_0, value_1, value_2, value_3) AS value,
    uint256_text(gas_price_0, gas_price_1, gas_price_2, gas_price_3) AS gas_price,
    uint256_text(gas_used_0, gas_used_1, gas_used_2, gas_used_3) AS gas_used,
    bytea_text(type) AS type, bytea_text(nonce) AS nonce, bytea_text(gas_limit) AS gas_limit,
    bytea_text(max_fee_per_gas) AS max_fee_per_gas,
    bytea_text(max_priority_fee_per_gas) AS max_priority_fee_per_gas,
    bytea_text(max_fee_per_blob_gas) AS max_fee_per_blob_gas,
    bytea_text(cumulative_gas_used) AS cumulative_gas_used, bytea_text(method) AS method,
    '{' || array_to_string(
        list_transform(blob_versioned_hashes, lambda hash: '"\\x' || hex(hash) || '"'), ',') || '}'
        AS blob_versioned_hashes,
    bytea_text(blob_gas_price) AS blob_gas_price
FROM transactions
WHERE in_partition(ordinal);
