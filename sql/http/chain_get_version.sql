-- Which state of the index this is.
-- params: none
-- returns: no row before the first block; else the version as text
-- index: chain_pkey
SELECT version::text FROM chain;
