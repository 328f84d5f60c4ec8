-- Stores runtime bytecode that is not stored yet.
-- params: code_hashes bytea[], codes bytea[], delegations text[]
-- literals: none
-- returns: nothing
-- index: codes_pkey
INSERT INTO codes (code_hash, code, delegation)
SELECT * FROM unnest(%(code_hashes)s::bytea[], %(codes)s::bytea[], %(delegations)s::text[])
ON CONFLICT (code_hash) DO NOTHING;
