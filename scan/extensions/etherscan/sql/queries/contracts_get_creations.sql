-- The transactions that created contracts, or for one that a contract created the first block in which it
-- was found.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON array in the order asked of {address, blockNumber,
--   blockHash, timestamp, hash, from}; hash and from are null where no transaction did it directly,
--   and what is no contract is left out
-- index: contracts_pkey, transactions_by_contract, blocks_pkey
SELECT index_version(), (
    SELECT json_list(string_agg(format(
        '{"address":"%%s","blockNumber":"%%s","blockHash":"%%s","timestamp":"%%s","hash":%%s,'
        '"from":%%s}',
        hex(requested.address), b.number, hex(b.hash), seconds(b.timestamp), json_hex(t.hash),
        json_hex(t.from_address)), ',' ORDER BY requested.position))
    FROM unnest(%(addresses)s::bytea[]) WITH ORDINALITY AS requested (address, position)
    LEFT JOIN LATERAL (
        SELECT t.hash, t.from_address, t.block_number
        FROM transactions t
        WHERE t.contract_address = requested.address AND t.status
        ORDER BY t.ordinal DESC
        LIMIT 1
    ) AS t ON true
    LEFT JOIN LATERAL (
        SELECT c.block_number
        FROM contracts c
        WHERE c.address = requested.address
        ORDER BY c.block_number ASC
        LIMIT 1
    ) AS contract ON true
    JOIN blocks b ON b.number = coalesce(t.block_number, contract.block_number));
