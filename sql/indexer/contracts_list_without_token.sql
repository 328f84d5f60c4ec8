-- Contracts that are and were no tokens, by address.
-- params: after bytea, limit integer
-- literals: limit
-- returns: address, hash of its code
-- index: contracts_pkey, tokens_pkey
SELECT c.address, c.code_hash
FROM contracts c
WHERE c.address > %(after)s AND c.code_hash IS NOT NULL
    AND NOT EXISTS (
        SELECT FROM contracts l WHERE l.address = c.address AND l.block_number > c.block_number)
    AND NOT EXISTS (SELECT FROM tokens k WHERE k.address = c.address)
ORDER BY c.address
LIMIT %(limit)s;
