-- Tokens of which it is to be found since when they have their texts, older ones before newer ones.
-- params: limit integer, passed_over bytea[]
-- literals: limit
-- returns: address, name, symbol, the block of its present contract's creation or null, the first block of the search,
--   the block that the texts are of
-- index: tokens_undated, contract_creations_by_address, chain_pkey, blocks_pkey
SELECT k.address, k.name, k.symbol, c.block_number, greatest((SELECT min(b.number) FROM blocks b), c.block_number),
    k.read_block
FROM tokens k
LEFT JOIN LATERAL (
    SELECT n.block_number
    FROM contract_creations n
    WHERE n.address = k.address AND n.ordinal <= last_ordinal_in(k.block_number)
    ORDER BY n.ordinal DESC
    LIMIT 1) AS c ON true
WHERE k.dated IS NULL AND k.read_block IS NOT NULL AND k.ended_in IS NULL
    AND NOT EXISTS (SELECT FROM unnest(%(passed_over)s::bytea[]) AS p (address) WHERE p.address = k.address)
ORDER BY k.block_number, k.address
LIMIT %(limit)s;
