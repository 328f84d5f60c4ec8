-- For each of these codes that is not verified, the contract that had it first.
-- params: code_hashes bytea[]
-- returns: code_hash, address
-- index: contracts_by_code_hash, verified_contracts_by_code_hash
SELECT c.code_hash, c.address
FROM unnest(%(code_hashes)s::bytea[]) AS kept (code_hash)
CROSS JOIN LATERAL (
    SELECT code_hash, address
    FROM contracts
    WHERE code_hash = kept.code_hash
    ORDER BY block_number, address
    LIMIT 1) AS c
WHERE NOT EXISTS (SELECT FROM verified_contracts v WHERE v.code_hash = kept.code_hash AND v.match <> 'runtime')
    AND NOT EXISTS (
        SELECT FROM verification_jobs j WHERE j.address = c.address AND j.finished_at IS NULL);
