-- Whether any of these contracts has a verification that says where its code is in its sources.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: true or false
-- index: contracts_pkey, verified_contracts_by_code_hash, source_maps_pkey
SELECT EXISTS (SELECT
    FROM unnest(%(addresses)s::bytea[]) AS requested (address)
    CROSS JOIN LATERAL verification_of(requested.address) AS v
    JOIN source_maps m ON m.address = v.address AND m.code_hash = v.code_hash);
