-- The layout of the storage of a verified contract.
-- params: address bytea, code_hash bytea
-- literals: none
-- returns: layout: the compiler's JSON, by zlib
-- index: compiled_sources_pkey
SELECT layout FROM compiled_sources WHERE address = %(address)s AND code_hash = %(code_hash)s;
