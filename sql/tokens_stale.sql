-- Tokens whose supply is to be read, and the block of their last transfer, after which to read it.
-- params: limit integer
-- returns: address, block number, block hash
-- index: tokens_stale, token_transfers_by_token, blocks_pkey
SELECT k.address, b.number, b.hash
FROM tokens k
CROSS JOIN LATERAL (
    SELECT coalesce(max(x.block_number), k.block_number) AS number
    FROM token_transfers x
    WHERE x.token_address = k.address
) AS moved
JOIN blocks b ON b.number = moved.number
WHERE k.supply_block IS NULL
ORDER BY k.address
LIMIT %(limit)s;
