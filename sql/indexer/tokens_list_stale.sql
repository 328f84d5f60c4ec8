-- Tokens whose supplies are to be read, with the block of the last transfer of each, after which to read
-- it.
-- params: limit integer
-- literals: limit
-- returns: address, block number, block hash
-- index: tokens_stale, token_transfers_by_token, token_transfers_pkey, blocks_pkey
SELECT k.address, b.number, b.hash
FROM tokens k
JOIN blocks b ON b.number = coalesce(
    (SELECT x.block_number FROM token_transfers x WHERE x.ordinal =
        (SELECT max(x.ordinal) FROM token_transfers x WHERE x.token_address = k.address)),
    k.block_number)
WHERE k.supply_block IS NULL
ORDER BY k.address
LIMIT %(limit)s;
