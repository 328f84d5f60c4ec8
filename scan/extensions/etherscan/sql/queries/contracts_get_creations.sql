-- The newest creations of contracts.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON array in the order asked of Etherscan's fields but for the code, and of the
--   transaction's {blockHash, transactionIndex, to}; contractFactory is null where the transaction itself created it
-- index: contract_creations_by_address, transactions_pkey, blocks_pkey, contracts_pkey,
--   kept_addresses_pkey
SELECT index_version(), (
    SELECT json_list(string_agg(format(
        '{"contractAddress":"%%s","contractCreator":"%%s","txHash":"%%s","blockNumber":"%%s","timestamp":"%%s",'
        '"contractFactory":%%s,"blockHash":"%%s","transactionIndex":%%s,"to":%%s}',
        hex(requested.address), hex(t.from_address), hex(t.hash), b.number, seconds(b.timestamp),
        json_hex(made.factory), hex(b.hash), t.transaction_index, json_hex(t.to_address)),
        ',' ORDER BY requested.position))
    FROM unnest(%(addresses)s::bytea[]) WITH ORDINALITY AS requested (address, position)
    JOIN LATERAL (
        SELECT n.block_number, n.transaction_index, n.factory, n AS creation
        FROM contract_creations n
        WHERE n.address = requested.address AND n.block_number >= first_kept_block_of(requested.address)
        ORDER BY n.ordinal DESC
        LIMIT 1
    ) AS made ON true
    JOIN blocks b ON b.number = made.block_number
    JOIN transactions t ON t.ordinal = b.transactions_before + made.transaction_index
    WHERE NOT is_doubtful_creation(made.creation, t, b));
