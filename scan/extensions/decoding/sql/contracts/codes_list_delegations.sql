-- How codes pass calls on, by their hashes.
-- params: code_hashes bytea[]
-- returns: code_hash, delegation (null: not known yet)
-- index: codes_pkey
SELECT c.code_hash, c.delegation
FROM unnest(%(code_hashes)s::bytea[]) AS requested (code_hash)
JOIN codes c ON c.code_hash = requested.code_hash;
