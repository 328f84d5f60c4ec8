-- Dedicates the database to a chain. Until its first block is written, which logs are stored may change.
-- params: chain_id numeric, genesis_hash bytea, start_block bigint, stored_logs text null
-- returns: nothing
-- index: chain_pkey, blocks_pkey
INSERT INTO chain AS c (chain_id, genesis_hash, start_block, stored_logs)
VALUES (%(chain_id)s, %(genesis_hash)s, %(start_block)s, coalesce(%(stored_logs)s, 'none'))
ON CONFLICT (only_row) DO UPDATE SET stored_logs = EXCLUDED.stored_logs
WHERE %(stored_logs)s IS NOT NULL AND c.stored_logs <> EXCLUDED.stored_logs
    AND NOT EXISTS (SELECT FROM blocks);
