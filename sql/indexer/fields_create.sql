-- Room for transactions as the node has them, for as long as the transaction lasts.
-- params: none
-- returns: nothing; makes the temporary table fetched_transactions
-- index: none
CREATE TEMPORARY TABLE fetched_transactions ON COMMIT DROP AS
SELECT block_number, transaction_index, hash, from_address, to_address, contract_address, value,
    gas_price, gas_used, status, type, nonce, gas_limit, max_fee_per_gas, max_priority_fee_per_gas,
    max_fee_per_blob_gas, cumulative_gas_used, method, blob_versioned_hashes
FROM transactions
WITH NO DATA;
