-- Gives a contract that is followed already another ABI.
-- params: address bytea, abi text
-- returns: nothing
-- index: followed_contracts_pkey
UPDATE followed_contracts SET abi = %(abi)s::json, abi_digest = NULL, views_problem = NULL
WHERE address = %(address)s;
