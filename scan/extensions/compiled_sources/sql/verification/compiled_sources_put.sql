-- Keeps what a compiler says of the code of a verified contract, in the place of what was known of it.
-- params: address bytea, code_hash bytea, files text, source_map bytea null, layout bytea null,
--   functions bytea null, creation_map bytea null, creation_size integer null, search_hash bytea null,
--   masked_hash bytea null, links text
-- literals: none
-- returns: nothing
-- index: compiled_sources_pkey
INSERT INTO compiled_sources (
    address, code_hash, files, source_map, layout, functions, creation_map, creation_size, search_hash,
    masked_hash, links)
VALUES (
    %(address)s, %(code_hash)s, %(files)s::json, %(source_map)s, %(layout)s, %(functions)s,
    %(creation_map)s, %(creation_size)s, %(search_hash)s, %(masked_hash)s, %(links)s::json)
ON CONFLICT (address, code_hash) DO UPDATE
SET files = excluded.files, source_map = excluded.source_map, layout = excluded.layout,
    functions = excluded.functions, creation_map = excluded.creation_map,
    creation_size = excluded.creation_size, search_hash = excluded.search_hash,
    masked_hash = excluded.masked_hash, links = excluded.links;
