-- Removes a verification.
-- params: address bytea, code_hash bytea
-- returns: when it was verified; no row where there is none
-- index: verified_contracts_pkey
DELETE FROM verified_contracts
WHERE address = %(address)s AND code_hash = %(code_hash)s
RETURNING verified_at;
