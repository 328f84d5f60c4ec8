-- Fills base fees of blocks that lack them, and are still those that were fetched.
-- params: numbers bigint[], hashes bytea[], base_fees numeric[]
-- returns: nothing
-- index: blocks_pkey
UPDATE blocks b
SET base_fee_per_gas = fetched.base_fee
FROM unnest(%(numbers)s::bigint[], %(hashes)s::bytea[], %(base_fees)s::numeric[])
    AS fetched (number, hash, base_fee)
WHERE b.number = fetched.number
    AND b.hash = fetched.hash
    AND b.base_fee_per_gas IS NULL
    AND fetched.base_fee IS NOT NULL;
