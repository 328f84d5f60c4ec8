-- Transactions of a range of blocks, in the chain's order.
-- params: block_from bigint, block_to bigint
-- returns: the columns of its kind in scan/exports/columns.py; numeric as text
-- index: transactions_pkey, blocks_pkey
SELECT t.block_number, t.transaction_index, t.hash, t.from_address, t.to_address,
    t.contract_address, t.value::text, t.gas_price::text, t.gas_used::text, t.status, t.type,
    t.nonce, t.gas_limit, t.max_fee_per_gas, t.max_priority_fee_per_gas, t.max_fee_per_blob_gas,
    t.cumulative_gas_used, t.method, t.blob_versioned_hashes, t.blob_gas_price
FROM transactions t
WHERE t.ordinal BETWEEN (SELECT first FROM transaction_ordinals(%(block_from)s, %(block_to)s))
    AND (SELECT last FROM transaction_ordinals(%(block_from)s, %(block_to)s))
ORDER BY t.ordinal;
