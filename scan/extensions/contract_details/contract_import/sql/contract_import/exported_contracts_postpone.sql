-- Has an exported contract compiled later; after 24 attempts, no more.
-- params: address bytea, code_hash bytea, due_at timestamptz
-- returns: nothing
-- index: exported_contracts_pkey
UPDATE exported_contracts
SET due_at = CASE WHEN attempts < 24 THEN %(due_at)s ELSE 'infinity' END,
    reason = CASE WHEN attempts >= 24 THEN 'its compiler could not be run here in 24 attempts' END
WHERE address = %(address)s AND code_hash = %(code_hash)s;
