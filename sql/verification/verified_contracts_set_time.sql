-- Says when a contract was verified, where that was before its sources were compiled again.
-- params: address bytea, code_hash bytea, verified_at timestamptz
-- returns: nothing
-- index: verified_contracts_pkey
UPDATE verified_contracts
SET verified_at = %(verified_at)s
WHERE address = %(address)s AND code_hash = %(code_hash)s;
