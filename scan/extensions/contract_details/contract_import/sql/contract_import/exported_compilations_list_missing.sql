-- Those of these compilations that a contract of this chain has, and that are not stored.
-- params: keys text[]
-- returns: compilation_id as text
-- index: exported_contracts_by_compilation, exported_compilations_pkey
SELECT k.key
FROM unnest(%(keys)s::text[]) AS k (key)
WHERE EXISTS (SELECT FROM exported_contracts e WHERE e.compilation_id = k.key::uuid)
    AND NOT EXISTS (SELECT FROM exported_compilations c WHERE c.compilation_id = k.key::uuid);
