-- Runtime bytecode by its hash.
-- params: code_hashes bytea[]
-- returns: code_hash, code
-- index: codes_pkey
SELECT c.code_hash, c.code
FROM unnest(%(code_hashes)s::bytea[]) AS requested (code_hash)
JOIN codes c ON c.code_hash = requested.code_hash;
