-- Has the sources of verified contracts of this transaction compiled again.
-- params: none
-- returns: nothing
-- index: restored_sources_pkey
INSERT INTO restored_sources (address, code_hash)
SELECT v.address, v.code_hash
FROM verified_contracts v
WHERE v.xmin = pg_current_xact_id()::xid
ON CONFLICT (address, code_hash) DO UPDATE SET due_at = DEFAULT, attempts = 0, reason = NULL;
