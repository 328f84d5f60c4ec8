-- Notes why the views of a contract cannot be made as its ABI is.
-- params: address bytea, problem text
-- returns: address where it is another problem than before, or the first
-- index: followed_contracts_pkey
UPDATE followed_contracts SET views_problem = %(problem)s
WHERE address = %(address)s AND views_problem IS DISTINCT FROM %(problem)s
RETURNING address;
