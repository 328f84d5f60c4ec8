-- Whether any of these contracts has a verification that says where its code in a block is in its sources.
-- params: addresses bytea[], block_number bigint
-- literals: none
-- returns: one row: true or false
-- index: contracts_pkey, replaced_codes_pkey, verified_contracts_by_code_hash, compiled_sources_pkey
SELECT EXISTS (SELECT
    FROM unnest(%(addresses)s::bytea[]) AS requested (address)
    CROSS JOIN contracts_between(requested.address, %(block_number)s::bigint, %(block_number)s::bigint) AS c
    CROSS JOIN verification_of_code(requested.address, c.code_hash) AS v
    JOIN compiled_sources m ON m.address = v.address AND m.code_hash = v.code_hash
    WHERE m.source_map IS NOT NULL);
