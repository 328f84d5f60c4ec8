-- The newest creations of contracts: the transaction, or for one that a contract created its block, be it that in
-- which its code was first found.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON array in the order asked of {address, blockNumber,
--   blockHash, timestamp, hash, transactionIndex, from}; hash, index and from are null where no transaction did it directly,
--   and what never was a contract is left out
-- index: contracts_pkey, contract_creations_by_address, transactions_pkey, blocks_pkey
SELECT index_version(), (
    SELECT json_list(string_agg(format(
        '{"address":"%%s","blockNumber":"%%s","blockHash":"%%s","timestamp":"%%s","hash":%%s,'
        '"transactionIndex":%%s,"from":%%s}',
        hex(requested.address), b.number, hex(b.hash), seconds(b.timestamp), json_hex(t.hash),
        coalesce(t.transaction_index::text, 'null'), json_hex(t.from_address)), ',' ORDER BY requested.position))
    FROM unnest(%(addresses)s::bytea[]) WITH ORDINALITY AS requested (address, position)
    LEFT JOIN LATERAL (
        SELECT n.block_number, CASE WHEN n.factory IS NULL THEN n.transaction_index END AS transaction_index
        FROM contract_creations n
        WHERE n.address = requested.address
        ORDER BY n.ordinal DESC
        LIMIT 1
    ) AS made ON true
    LEFT JOIN LATERAL (
        SELECT c.block_number
        FROM contracts c
        WHERE c.address = requested.address AND c.code_hash IS NOT NULL
        ORDER BY c.block_number DESC
        LIMIT 1
    ) AS contract ON true
    JOIN blocks b ON b.number = coalesce(made.block_number, contract.block_number)
    LEFT JOIN transactions t ON t.ordinal = b.transactions_before + made.transaction_index);
