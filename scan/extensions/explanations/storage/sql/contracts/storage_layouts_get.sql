-- The layout of the storage of a verified contract.
-- params: address bytea, code_hash bytea
-- literals: none
-- returns: layout: the compiler's JSON, by zlib
-- index: storage_layouts_pkey
SELECT layout FROM storage_layouts WHERE address = %(address)s AND code_hash = %(code_hash)s;
