-- Dedicates the database to a chain.
-- params: chain_id numeric, genesis_hash bytea, start_block bigint
-- returns: nothing
-- index: chain_pkey
INSERT INTO chain (chain_id, genesis_hash, start_block)
VALUES (%(chain_id)s, %(genesis_hash)s, %(start_block)s)
ON CONFLICT DO NOTHING;
