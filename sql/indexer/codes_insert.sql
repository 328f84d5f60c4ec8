-- Stores runtime bytecode that is not stored yet.
-- params: code_hashes bytea[], codes bytea[], are_proxies boolean[]
-- literals: none
-- returns: nothing
-- index: codes_pkey
INSERT INTO codes (code_hash, code, is_proxy)
SELECT * FROM unnest(%(code_hashes)s::bytea[], %(codes)s::bytea[], %(are_proxies)s::boolean[])
ON CONFLICT (code_hash) DO NOTHING;
