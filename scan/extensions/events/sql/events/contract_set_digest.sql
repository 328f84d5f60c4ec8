-- Notes from what the views of a contract were made.
-- params: address bytea, digest bytea, implementations bytea[]
-- returns: nothing
-- index: followed_contracts_pkey
UPDATE followed_contracts SET abi_digest = %(digest)s, implementations = %(implementations)s
WHERE address = %(address)s;
