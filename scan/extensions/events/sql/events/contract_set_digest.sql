-- Notes from what the views of a contract were made, and how many events of its ABI are none.
-- params: address bytea, digest bytea, implementations bytea[], left_out integer
-- returns: nothing
-- index: followed_contracts_pkey
UPDATE followed_contracts SET abi_digest = %(digest)s, implementations = %(implementations)s,
    views_problem = NULL, events_left_out = %(left_out)s
WHERE address = %(address)s;
