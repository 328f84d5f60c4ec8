-- Keeps where the code of a verified contract is in its sources.
-- params: address bytea, code_hash bytea, source_map bytea, files text
-- literals: none
-- returns: nothing
-- index: source_maps_pkey
INSERT INTO source_maps (address, code_hash, source_map, files)
VALUES (%(address)s, %(code_hash)s, %(source_map)s, %(files)s::json)
ON CONFLICT (address, code_hash) DO UPDATE
SET source_map = excluded.source_map, files = excluded.files;
