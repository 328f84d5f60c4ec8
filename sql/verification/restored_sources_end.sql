-- Ends with a restored contract, whose sources have its code.
-- params: address bytea, code_hash bytea
-- returns: nothing
-- index: restored_sources_pkey
DELETE FROM restored_sources WHERE address = %(address)s AND code_hash = %(code_hash)s;
