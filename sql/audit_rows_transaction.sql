-- What transactions say, to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: block number, index; hash, from, to, created contract, value, price, gas used, status
-- index: transactions_pkey
SELECT block_number, transaction_index, hash, from_address, to_address, contract_address, value,
    gas_price, gas_used, status
FROM transactions
WHERE block_number BETWEEN %(block_from)s AND %(block_to)s;
