-- The tokens among these addresses, with their types and the log from which on they are tokens.
-- params: addresses bytea[]
-- returns: address, type, whether its Deposit means a mint, block number and log of its first one
-- index: tokens_pkey, blocks_pkey, token_transfers_by_token
SELECT k.address, k.type, k.wraps, k.block_number,
    (SELECT min(x.log_index) FROM token_transfers x
        WHERE x.token_address = k.address AND x.ordinal >= b.token_transfers_before
            AND x.ordinal < b.token_transfers_before + b.token_transfer_count)
FROM tokens k
LEFT JOIN blocks b ON b.number = k.block_number
WHERE k.address = ANY(%(addresses)s::bytea[]);
