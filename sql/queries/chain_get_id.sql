-- The id of the indexed chain.
-- params: none
-- literals: none
-- returns: no row where nothing is indexed; else the id as text
-- index: chain_pkey
SELECT chain_id::text FROM chain;
