-- Adds to the stored number of tokens, since counting them takes longer the more there are.
-- params: added bigint
-- literals: none
-- returns: nothing
-- index: chain_pkey
UPDATE chain SET token_count = token_count + %(added)s;
