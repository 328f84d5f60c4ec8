-- Tokens whose supplies are to be read, with the block of the last transfer or change of each, after which
-- to read it; and what shows whether all else is to be read too.
-- params: limit integer
-- literals: limit
-- returns: address, block number, block hash, the block in which it was first seen, that of its last
--   reading or null, whether that is of an earlier day
-- index: tokens_stale, token_transfers_by_token, token_transfers_pkey, contract_changes_pkey, blocks_pkey
SELECT k.address, b.number, b.hash, k.block_number, k.read_block,
    (SELECT day_of(r.timestamp) < day_of(b.timestamp) FROM blocks r WHERE r.number = k.read_block)
FROM tokens k
JOIN blocks b ON b.number = greatest(k.block_number,
    (SELECT x.block_number FROM token_transfers x WHERE x.ordinal =
        (SELECT max(x.ordinal) FROM token_transfers x WHERE x.token_address = k.address)),
    (SELECT max(c.block_number) FROM contract_changes c WHERE c.address = k.address))
WHERE k.supply_block IS NULL AND k.ended_in IS NULL
ORDER BY k.address
LIMIT %(limit)s;
