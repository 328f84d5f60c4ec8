-- What the indexer tells operators stands in a table of its own, which it fills at once. Supplies
-- are known as of a token's last transfer: until then they are to be read again.
ALTER TABLE chain
    DROP COLUMN IF EXISTS node_head,
    DROP COLUMN IF EXISTS problem,
    DROP COLUMN IF EXISTS checked_at;
UPDATE tokens SET supply_block = NULL;
DROP INDEX IF EXISTS addresses_stale;
