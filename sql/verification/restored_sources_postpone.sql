-- Has a restored contract compiled later.
-- params: address bytea, code_hash bytea, due_at timestamptz
-- returns: nothing
-- index: restored_sources_pkey
UPDATE restored_sources SET due_at = %(due_at)s WHERE address = %(address)s AND code_hash = %(code_hash)s;
