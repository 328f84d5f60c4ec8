-- Restores deliveries from the lines of a file of owners' data: those of webhooks that this transaction has restored,
-- since what others had left to send may have been sent since.
-- params: none
-- returns: how many rows were not there
-- index: webhooks_pkey, deliveries_pkey
WITH restored AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('event_bodies', 'id')) AS new_body_id, l.line -> 'row' ->> 'body' AS body,
        r.*
    FROM owners_lines l
    CROSS JOIN json_populate_record(NULL::deliveries, l.line -> 'row') AS r
    JOIN webhooks w ON w.id = r.webhook_id AND w.xmin = pg_current_xact_id()::xid
    WHERE l.line ->> 'table' = 'deliveries'
), inserted AS (
    INSERT INTO deliveries (id, webhook_id, block_number, status, event, removed, orphaned, sent, attempts, created_at,
        tried_since, retry_at, attempted_at, finished_at, response_code, error, body_id, body_bytes)
    OVERRIDING SYSTEM VALUE
    SELECT r.id, r.webhook_id, r.block_number, r.status, r.event, r.removed, r.orphaned, r.sent, r.attempts,
        r.created_at, r.tried_since, r.retry_at, r.attempted_at, r.finished_at, r.response_code, r.error,
        r.new_body_id, octet_length(r.body)
    FROM restored r
    ON CONFLICT DO NOTHING
    RETURNING body_id
), bodies AS (
    INSERT INTO event_bodies (id, body)
    SELECT r.new_body_id, r.body
    FROM restored r
    WHERE r.new_body_id IN (SELECT i.body_id FROM inserted i)
)
SELECT count(*) FROM inserted;
