-- The chain's id.
-- params: none
-- returns: no row while no chain is known; the id as text
-- index: chain_pkey
SELECT chain_id::text
FROM chain;
