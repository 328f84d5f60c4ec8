-- The newest contracts that are and were no tokens.
-- params: limit integer
-- literals: limit
-- returns: address, hash of its code
-- index: contracts_pkey, tokens_pkey; it reads all contracts, which are few on a development chain
SELECT c.address, c.code_hash
FROM contracts c
WHERE c.code_hash IS NOT NULL
    AND NOT EXISTS (
        SELECT FROM contracts l WHERE l.address = c.address AND l.block_number > c.block_number)
    AND NOT EXISTS (SELECT FROM tokens k WHERE k.address = c.address)
ORDER BY c.block_number DESC, c.address
LIMIT %(limit)s;
