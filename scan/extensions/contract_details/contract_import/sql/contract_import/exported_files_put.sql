-- Stores the received paths of compilations that are stored.
-- params: none
-- returns: nothing
-- index: exported_compilations_pkey, exported_files_pkey
INSERT INTO exported_files (compilation_id, path, source_hash)
SELECT r.compilation_id, r.path, r.source_hash
FROM received_files r
WHERE EXISTS (SELECT FROM exported_compilations c WHERE c.compilation_id = r.compilation_id)
ON CONFLICT DO NOTHING;
