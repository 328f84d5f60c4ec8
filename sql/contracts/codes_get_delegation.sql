-- How the code that stood at an address in a block passes calls on, and what traces show of that.
-- params: address bytea, block_number bigint
-- literals: none
-- returns: no row where nothing is indexed; delegation, delegated calls (JSON)
-- index: contracts_pkey, replaced_codes_pkey, codes_pkey, verified_contracts_by_code_hash, delegated_calls_pkey,
--   blocks_pkey
SELECT delegation_of(o),
    CASE WHEN o.delegation LIKE 'other%%' THEN delegated_calls_of(%(address)s, %(block_number)s) END
FROM contracts_between(%(address)s, %(block_number)s, %(block_number)s) AS c
JOIN codes o ON o.code_hash = c.code_hash;
