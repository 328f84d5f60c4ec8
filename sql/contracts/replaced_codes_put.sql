-- Notes at which contracts another code stands at a block than is indexed, and forgets it of the others.
-- params: addresses bytea[], hashes bytea[], block bigint
-- literals: none
-- returns: nothing
-- index: replaced_codes_pkey, contracts_pkey
WITH present AS (
    SELECT p.address, now.code_hash, p.code_hash AS present_hash
    FROM unnest(%(addresses)s::bytea[], %(hashes)s::bytea[]) AS p (address, code_hash)
    CROSS JOIN LATERAL indexed_contract_at(p.address) AS now
), forgotten AS (
    DELETE FROM replaced_codes r
    USING present p
    WHERE r.address = p.address AND p.code_hash = p.present_hash
)
INSERT INTO replaced_codes (address, code_hash, present_hash, block_number)
SELECT p.address, p.code_hash, p.present_hash, %(block)s
FROM present p
WHERE p.code_hash <> p.present_hash
ON CONFLICT (address) DO UPDATE
SET code_hash = excluded.code_hash, present_hash = excluded.present_hash,
    block_number = excluded.block_number;
