-- Keeps where the creation code of a verified contract is in its sources.
-- params: address bytea, code_hash bytea, code_size integer, search_hash bytea, masked_hash bytea, links text,
--   source_map bytea, files text
-- literals: none
-- returns: nothing
-- index: creation_maps_pkey
INSERT INTO creation_maps (
    address, code_hash, code_size, search_hash, masked_hash, links, source_map, files)
VALUES (
    %(address)s, %(code_hash)s, %(code_size)s, %(search_hash)s, %(masked_hash)s, %(links)s::json,
    %(source_map)s, %(files)s::json)
ON CONFLICT (address, code_hash) DO UPDATE
SET code_size = excluded.code_size, search_hash = excluded.search_hash,
    masked_hash = excluded.masked_hash, links = excluded.links, source_map = excluded.source_map,
    files = excluded.files;
