-- Stores paths of compilations that are stored.
-- params: compilation_ids text[], paths text[], source_hashes bytea[]
-- returns: nothing
-- index: exported_compilations_pkey, exported_files_pkey
INSERT INTO exported_files (compilation_id, path, source_hash)
SELECT r.compilation_id, r.path, r.source_hash
FROM unnest(%(compilation_ids)s::uuid[], %(paths)s::text[], %(source_hashes)s::bytea[])
    AS r (compilation_id, path, source_hash)
WHERE EXISTS (SELECT FROM exported_compilations c WHERE c.compilation_id = r.compilation_id)
ON CONFLICT DO NOTHING;
