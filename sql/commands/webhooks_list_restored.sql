-- The active webhooks that this transaction has restored, for events of blocks indexed before.
-- params: none
-- returns: one row: array of their ids, null without one; the first block whose events they receive; the newest indexed
--   block; the first one with all rows, null where all have them; the addresses whose logs they receive
-- index: blocks_pkey, webhook_addresses_by_webhook
SELECT array_agg(w.id), greatest(min(w.first_block), (SELECT min(b.number) FROM blocks b)), (SELECT max(b.number) FROM blocks b),
    (SELECT r.removed_to FROM retention r),
    ARRAY(SELECT l.watch_address
        FROM webhooks l
        WHERE l.active AND l.xmin = pg_current_xact_id()::xid AND 'log' = ANY (l.event_types)
            AND l.watch_address IS NOT NULL
        UNION
        SELECT a.address
        FROM webhooks l
        JOIN webhook_addresses a ON a.webhook_id = l.id
        WHERE l.active AND l.xmin = pg_current_xact_id()::xid AND 'log' = ANY (l.event_types))
FROM webhooks w
WHERE w.active AND w.xmin = pg_current_xact_id()::xid;
