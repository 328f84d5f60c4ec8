-- Whether state is read by block hash or by number, for /readyz.
ALTER TABLE IF EXISTS indexer_status ADD COLUMN IF NOT EXISTS state_by_hash boolean;
