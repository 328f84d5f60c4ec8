-- How the code that stood at an address in a block passes calls on.
-- params: address bytea, block_number bigint
-- returns: no row where nothing is indexed; delegation (null: not known yet)
-- index: contracts_pkey, replaced_codes_pkey, codes_pkey
SELECT o.delegation
FROM contracts_between(%(address)s, %(block_number)s, %(block_number)s) AS c
JOIN codes o ON o.code_hash = c.code_hash;
