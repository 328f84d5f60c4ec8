-- Notes what the compilation of an exported contract has shown: it is not compiled again.
-- params: address bytea, code_hash bytea, outcome text, reason text null
-- returns: nothing
-- index: exported_contracts_pkey
UPDATE exported_contracts
SET outcome = %(outcome)s, reason = %(reason)s, due_at = 'infinity'
WHERE address = %(address)s AND code_hash = %(code_hash)s;
