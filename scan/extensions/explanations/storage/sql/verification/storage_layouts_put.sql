-- Keeps how the storage of a verified contract is laid out.
-- params: address bytea, code_hash bytea, layout bytea
-- literals: none
-- returns: nothing
-- index: storage_layouts_pkey
INSERT INTO storage_layouts (address, code_hash, layout)
VALUES (%(address)s, %(code_hash)s, %(layout)s)
ON CONFLICT (address, code_hash) DO UPDATE
SET layout = excluded.layout;
