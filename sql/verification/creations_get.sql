-- The last transaction of a block that created the contract at an address, itself or in a call.
-- params: address bytea, block_number bigint
-- returns: no row where the block has none, or its traces are not indexed; whether a contract created
--   it, transaction hash, block hash, index and to_address of the transaction
-- index: blocks_pkey, transactions_by_contract, transactions_pkey, internal_transfers_by_to
SELECT made.is_by_contract, t.hash, b.hash, t.transaction_index, t.to_address
FROM blocks b
JOIN LATERAL (
    SELECT false AS is_by_contract, c.ordinal
    FROM transactions c
    WHERE c.contract_address = %(address)s AND c.contract_address <> c.from_address AND c.status
        AND c.ordinal >= b.transactions_before
        AND c.ordinal < b.transactions_before + b.transaction_count
    UNION ALL
    SELECT true, b.transactions_before + i.transaction_index
    FROM internal_transfers i
    WHERE i.to_address = %(address)s AND i.to_address <> i.from_address
        AND i.ordinal >= b.internal_transfers_before
        AND i.ordinal < b.internal_transfers_before + b.internal_transfer_count
        AND internal_transfer_type(i.type) IN ('create', 'create2')
) AS made ON true
JOIN transactions t ON t.ordinal = made.ordinal
WHERE b.number = %(block_number)s
ORDER BY made.ordinal DESC, made.is_by_contract DESC
LIMIT 1;
