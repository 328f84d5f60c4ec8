-- Dedicates the database to a chain. Until its first block is written, the first block, the block that a
-- development node forks, and the setting of stored logs may change.
-- params: chain_id numeric, genesis_hash bytea, start_block bigint, fork_block bigint null, is_development boolean,
--   stored_logs text null
-- returns: nothing
-- index: chain_pkey, blocks_pkey, bulk_backfill_pkey
INSERT INTO chain AS c (chain_id, genesis_hash, start_block, fork_block, is_development, stored_logs)
VALUES (%(chain_id)s, %(genesis_hash)s, %(start_block)s, %(fork_block)s, %(is_development)s,
    coalesce(%(stored_logs)s, 'none'))
ON CONFLICT (only_row) DO UPDATE
SET chain_id = EXCLUDED.chain_id, genesis_hash = EXCLUDED.genesis_hash,
    start_block = EXCLUDED.start_block, fork_block = EXCLUDED.fork_block,
    is_development = EXCLUDED.is_development, stored_logs = coalesce(%(stored_logs)s, c.stored_logs)
WHERE (c.chain_id, c.genesis_hash, c.start_block, c.fork_block, c.is_development, c.stored_logs)
        IS DISTINCT FROM (EXCLUDED.chain_id, EXCLUDED.genesis_hash, EXCLUDED.start_block,
            EXCLUDED.fork_block, EXCLUDED.is_development, coalesce(%(stored_logs)s, c.stored_logs))
    AND NOT EXISTS (SELECT FROM blocks)
    AND NOT EXISTS (SELECT FROM bulk_backfill);
