-- Keeps how the storage of a verified contract is laid out; null of layout forgets it.
-- params: address bytea, code_hash bytea, layout bytea null
-- literals: none
-- returns: nothing
-- index: storage_layouts_pkey
WITH forgotten AS (
    DELETE FROM storage_layouts
    WHERE address = %(address)s AND code_hash = %(code_hash)s AND %(layout)s::bytea IS NULL
)
INSERT INTO storage_layouts (address, code_hash, layout)
SELECT %(address)s, %(code_hash)s, %(layout)s
WHERE %(layout)s::bytea IS NOT NULL
ON CONFLICT (address, code_hash) DO UPDATE
SET layout = excluded.layout;
