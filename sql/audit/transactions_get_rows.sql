-- Columns of transactions to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: block number, index; hash, from, to, created contract, value, price, gas used, status
-- index: transactions_pkey, blocks_pkey
SELECT block_number, transaction_index, hash, from_address, to_address, contract_address, value,
    gas_price, gas_used, status
FROM transactions
WHERE ordinal >= (SELECT b.transactions_before FROM blocks b WHERE b.number = %(block_from)s)
    AND ordinal < (SELECT b.transactions_before + b.transaction_count FROM blocks b
        WHERE b.number = %(block_to)s);
