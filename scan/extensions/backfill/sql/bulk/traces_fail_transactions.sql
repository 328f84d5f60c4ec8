-- Marks transactions as failed, which before Byzantium only traces tell.
-- params: numbers bigint[], indexes integer[]
-- returns: nothing
-- index: blocks_pkey, transactions_pkey
UPDATE transactions t
SET status = false, contract_address = NULL
FROM unnest(%(numbers)s::bigint[], %(indexes)s::integer[]) AS f (block_number, transaction_index)
JOIN blocks b ON b.number = f.block_number
WHERE t.ordinal = b.transactions_before + f.transaction_index;
