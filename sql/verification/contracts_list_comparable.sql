-- Contracts whose creations are to be compared with those of verified ones with the same code: of the newest
-- blocks, of the newest codes that were verified after a time, where no equal one was found before that, and those
-- verified that were created anew.
-- params: after timestamptz null, codes integer, of_one_code integer, blocks integer
-- literals: none
-- returns: one row: when the last of the codes was verified, addresses
-- index: verified_contracts_listed, contracts_by_code_hash, contracts_by_block, blocks_pkey,
--   verified_contracts_by_creation_length, verified_contracts_pkey, creation_comparisons_pkey,
--   creation_comparisons_due
WITH verified AS (
    SELECT v.verified_at, v.code_hash
    FROM verified_contracts v
    -- one that began earlier may have been committed meanwhile
    WHERE v.is_indexed AND v.match <> 'runtime'
        AND v.verified_at > coalesce(%(after)s::timestamptz - interval '1 s', '-infinity')
    ORDER BY v.verified_at DESC
    LIMIT %(codes)s
), candidates AS (
    SELECT c.address, c.code_hash, v.verified_at
    FROM (SELECT v.code_hash, max(v.verified_at) AS verified_at FROM verified v GROUP BY v.code_hash) AS v
    CROSS JOIN LATERAL (
        SELECT c.address, c.code_hash
        FROM contracts c
        WHERE c.code_hash = v.code_hash
        LIMIT %(of_one_code)s) AS c
    UNION ALL
    SELECT c.address, c.code_hash, '-infinity'
    FROM contracts c
    WHERE c.block_number > (SELECT max(b.number) FROM blocks b) - %(blocks)s
)
SELECT coalesce((SELECT max(v.verified_at) FROM verified v), %(after)s::timestamptz),
    coalesce((
        SELECT array_agg(DISTINCT c.address)
        FROM candidates c
        WHERE EXISTS (SELECT
                FROM verified_contracts v
                WHERE v.code_hash = c.code_hash AND v.creation_hash IS NOT NULL)
            AND NOT EXISTS (SELECT
                FROM verified_contracts o
                WHERE o.address = c.address AND o.code_hash = c.code_hash AND o.match <> 'runtime')
            AND NOT EXISTS (SELECT
                FROM creation_comparisons e
                WHERE e.address = c.address AND e.code_hash = c.code_hash
                    AND (e.is_equal OR e.compared_at > c.verified_at + interval '1 s'))
    ), '{}')
    || ARRAY(
        SELECT e.address
        FROM creation_comparisons e
        JOIN verified_contracts v USING (address, code_hash)
        WHERE e.is_equal IS NULL AND v.is_indexed
        LIMIT %(codes)s);
