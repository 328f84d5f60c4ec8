-- Notes from which block on all logs of an address are stored, or why those of older blocks are not.
-- params: address bytea, complete_from bigint, problem text null
-- returns: nothing
-- index: followed_contracts_pkey
UPDATE followed_contracts SET complete_from = %(complete_from)s, problem = %(problem)s WHERE address = %(address)s;
