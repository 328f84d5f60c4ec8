-- Who created the contract at an address, as far as the index knows: the newest creation there, by a
-- transaction or inside one.
-- params: address bytea
-- literals: none
-- returns: one row: index version, creator (the transaction's sender; null where it is not known),
--   factory (the contract that created it; null where the transaction did), transaction hash,
--   block number, ISO 8601 time
-- index: transactions_by_contract, internal_transfers_creations, blocks_pkey, transactions_pkey
SELECT index_version(), t.from_address, made.factory, t.hash, b.number, iso(b.timestamp)
FROM (SELECT) AS always
LEFT JOIN LATERAL (
    SELECT block_number, transaction_index, factory
    FROM (
        (SELECT t.block_number, t.transaction_index, NULL::bytea AS factory
        FROM transactions t
        WHERE t.contract_address = %(address)s AND t.contract_address <> t.from_address AND t.status
        ORDER BY t.ordinal DESC
        LIMIT 1)
        UNION ALL
        (SELECT i.block_number, i.transaction_index, i.from_address
        FROM internal_transfers i
        WHERE i.to_address = %(address)s AND i.type IN (1, 2)
        ORDER BY i.ordinal DESC
        LIMIT 1)
    ) AS ways
    ORDER BY block_number DESC, transaction_index DESC
    LIMIT 1
) AS made ON true
LEFT JOIN blocks b ON b.number = made.block_number
LEFT JOIN transactions t ON t.ordinal = b.transactions_before + made.transaction_index;
