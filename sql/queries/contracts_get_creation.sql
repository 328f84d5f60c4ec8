-- The newest indexed creation of a contract at an address, by a transaction or inside one.
-- params: address bytea
-- literals: none
-- returns: one row: index version, creator (the transaction's sender; null where it is not known),
--   factory (the contract that created it; null where the transaction did), transaction hash,
--   block number, ISO 8601 time, the transaction's index
-- index: contract_creations_by_address, blocks_pkey, transactions_pkey
SELECT index_version(), made.creator, made.factory, t.hash, b.number, iso(b.timestamp),
    made.transaction_index
FROM (SELECT) AS always
LEFT JOIN LATERAL (
    SELECT n.block_number, n.transaction_index, n.creator, n.factory
    FROM contract_creations n
    WHERE n.address = %(address)s
    ORDER BY n.ordinal DESC
    LIMIT 1
) AS made ON true
LEFT JOIN blocks b ON b.number = made.block_number
LEFT JOIN transactions t ON t.ordinal = b.transactions_before + made.transaction_index;
