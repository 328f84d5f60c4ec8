-- Limits of webhooks: who activated one without a key of its owner, why the service stopped it, how
-- much its queue holds, and at most 100 active ones for a watched address, of which the oldest stay.
DO $$
BEGIN
    IF to_regclass('webhooks') IS NULL THEN
        RETURN;
    END IF;
    ALTER TABLE webhooks
        ADD COLUMN IF NOT EXISTS stopped_reason text,
        ADD COLUMN IF NOT EXISTS client_address text;
    ALTER TABLE delivery_queues
        ADD COLUMN IF NOT EXISTS pending_count integer NOT NULL DEFAULT 0;
    UPDATE delivery_queues q
    SET pending_count = p.pending
    FROM (SELECT webhook_id, count(*) AS pending FROM deliveries WHERE status = 'pending'
        GROUP BY webhook_id) AS p
    WHERE q.webhook_id = p.webhook_id;
    UPDATE webhooks w
    SET active = false, stopped_reason = 'its address is watched by 100 older webhooks, the most'
    FROM (SELECT id, row_number() OVER (PARTITION BY watch_address ORDER BY created_at, id) AS place
        FROM webhooks
        WHERE active) AS ranked
    WHERE w.id = ranked.id AND ranked.place > 100;
END
$$;
