-- Those of these sources that a compilation has, and that are not stored.
-- params: keys bytea[]
-- returns: source_hash
-- index: exported_files_by_source, exported_sources_pkey
SELECT k.key
FROM unnest(%(keys)s::bytea[]) AS k (key)
WHERE EXISTS (SELECT FROM exported_files f WHERE f.source_hash = k.key)
    AND NOT EXISTS (SELECT FROM exported_sources s WHERE s.source_hash = k.key);
