-- The functions among these that transactions called at contracts in blocks, but for those that failed, and the blocks
-- in which tokens among them may have changed, with no function.
-- params: addresses bytea[], numbers bigint[], functions bytea[]
-- literals: none
-- returns: address, block number, function bytea, which may be null
-- index: blocks_pkey, transactions_by_to, contract_changes_pkey
SELECT at.address, at.number, called.method
FROM unnest(%(addresses)s::bytea[], %(numbers)s::bigint[]) AS at (address, number)
JOIN blocks b ON b.number = at.number
CROSS JOIN LATERAL (
    SELECT t.method
    FROM transactions t
    WHERE t.to_address = at.address AND t.to_address <> t.from_address AND t.status IS NOT FALSE
        AND t.ordinal >= b.transactions_before AND t.ordinal < b.transactions_before + b.transaction_count
        AND t.method = ANY (%(functions)s::bytea[])
    UNION
    SELECT NULL
    FROM contract_changes c
    WHERE c.address = at.address AND c.block_number = at.number) AS called;
