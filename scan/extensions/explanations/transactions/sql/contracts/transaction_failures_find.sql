-- The stored reason for which a transaction of a block failed. A reason stored for the transaction in
-- another block is not returned.
-- params: transaction_hash bytea, block_hash bytea
-- literals: none
-- returns: no row, or kind, words, data, its size before it was cut, type of the call, trace address,
--   selector, addresses of the code, address
-- index: transaction_failures_pkey
SELECT f.kind, f.words, f.data, f.data_size, f.type, f.trace_address, f.selector, f.code_addresses,
    f.address
FROM transaction_failures f
WHERE f.transaction_hash = %(transaction_hash)s AND f.block_hash = %(block_hash)s;
