-- Has a contract compiled later.
-- params: address bytea, code_hash bytea, due_at timestamptz
-- returns: nothing
-- index: read_findings_pkey
UPDATE read_findings
SET due_at = %(due_at)s, is_running = false
WHERE address = %(address)s AND code_hash = %(code_hash)s;
