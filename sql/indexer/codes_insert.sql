-- Stores runtime bytecode that is not stored yet.
-- params: code_hashes bytea[], codes bytea[]
-- returns: nothing
-- index: codes_pkey
INSERT INTO codes (code_hash, code)
SELECT * FROM unnest(%(code_hashes)s::bytea[], %(codes)s::bytea[])
ON CONFLICT (code_hash) DO NOTHING;
