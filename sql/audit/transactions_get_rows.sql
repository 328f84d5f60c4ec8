-- Columns of transactions to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: block number, index; hash, from, to, created contract, value, price, gas used, status, type,
--   nonce, gas limit, max fee, max priority fee, max fee of blobs, cumulative gas, method, blob hashes
-- index: transactions_pkey, blocks_pkey
SELECT block_number, transaction_index, hash, from_address, to_address, contract_address, value,
    gas_price, gas_used, status, type, nonce, gas_limit, max_fee_per_gas, max_priority_fee_per_gas,
    max_fee_per_blob_gas, cumulative_gas_used, method, blob_versioned_hashes
FROM transactions
WHERE ordinal >= (SELECT b.transactions_before FROM blocks b WHERE b.number = %(block_from)s)
    AND ordinal < (SELECT b.transactions_before + b.transaction_count FROM blocks b
        WHERE b.number = %(block_to)s);
