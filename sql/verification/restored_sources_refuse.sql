-- Notes why the sources of a restored contract do not count.
-- params: address bytea, code_hash bytea, reason text
-- returns: nothing
-- index: restored_sources_pkey
UPDATE restored_sources
SET reason = %(reason)s
WHERE address = %(address)s AND code_hash = %(code_hash)s;
