-- Indexes the code of a contract that no block showed, as of the first indexed block; of one that ended nothing.
-- params: address bytea, code_hash bytea, code bytea, delegation text
-- literals: none
-- returns: nothing
-- index: chain_pkey, codes_pkey, contracts_pkey
WITH stored AS (
    INSERT INTO codes (code_hash, code, delegation)
    SELECT %(code_hash)s, %(code)s, %(delegation)s
    WHERE NOT EXISTS (SELECT FROM contracts c WHERE c.address = %(address)s)
    ON CONFLICT (code_hash) DO NOTHING
)
INSERT INTO contracts (address, block_number, code_hash)
SELECT %(address)s, c.start_block, %(code_hash)s
FROM chain c
WHERE NOT EXISTS (SELECT FROM contracts o WHERE o.address = %(address)s)
ON CONFLICT (address, block_number) DO NOTHING;
