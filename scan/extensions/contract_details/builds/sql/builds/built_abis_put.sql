-- Stores the ABI of a build that has a code, unless it was stored within the last minute, as processes that
-- serve see a new build at the same time.
-- params: code_hash bytea, name text, abi text
-- literals: none
-- returns: one row, true, where it was stored; else none
-- index: built_abis_pkey
INSERT INTO built_abis AS b (code_hash, contract_name, abi, stored_at)
VALUES (%(code_hash)s, %(name)s, %(abi)s::json, now())
ON CONFLICT (code_hash) DO UPDATE
SET contract_name = excluded.contract_name, abi = excluded.abi, stored_at = excluded.stored_at
WHERE b.stored_at < now() - interval '1 minute' OR b.abi::text <> excluded.abi::text
RETURNING true;
