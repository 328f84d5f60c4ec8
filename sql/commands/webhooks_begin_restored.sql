-- Lets active webhooks that this transaction has restored receive events from the next block on.
-- params: none
-- returns: nothing
-- index: blocks_pkey
UPDATE webhooks
SET first_block = greatest(first_block, (SELECT max(b.number) + 1 FROM blocks b))
WHERE active AND xmin = pg_current_xact_id()::xid;
