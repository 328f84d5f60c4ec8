-- The body of an event stands once in event_bodies, whatever number of webhooks it is delivered to; a
-- queue also counts the bytes it holds. Deliveries of before keep their own bodies until they are swept.
ALTER TABLE IF EXISTS deliveries
    ALTER COLUMN body DROP NOT NULL,
    ADD COLUMN IF NOT EXISTS body_id bigint,
    ADD COLUMN IF NOT EXISTS body_bytes integer NOT NULL DEFAULT 0;
ALTER TABLE IF EXISTS delivery_queues
    ADD COLUMN IF NOT EXISTS pending_bytes bigint NOT NULL DEFAULT 0;
