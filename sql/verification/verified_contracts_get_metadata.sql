-- The metadata file whose hash a code has, by a full match of a contract with it that was compiled here.
-- params: code_hash bytea
-- returns: no row where there is none; else the file's text
-- index: verified_contracts_by_code_hash, restored_sources_pkey
SELECT v.metadata
FROM verified_contracts v
WHERE v.code_hash = %(code_hash)s AND v.match = 'full' AND v.metadata IS NOT NULL
    AND NOT EXISTS (SELECT
        FROM restored_sources r
        WHERE r.address = v.address AND r.code_hash = v.code_hash)
LIMIT 1;
