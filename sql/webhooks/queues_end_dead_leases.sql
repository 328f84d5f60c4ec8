-- Ends the leases of processes that have died: PostgreSQL has let go of the lock each one held.
-- A process that cannot be found dead this way loses its leases when they expire. Locked queues are
-- passed over, as everywhere where several are taken: the indexer takes them in its own order.
-- params: now timestamptz
-- returns: webhook_id for each
-- index: delivery_queues_waiting
WITH dead AS (
    SELECT q.webhook_id
    FROM delivery_queues q
    WHERE q.leased_until > %(now)s
        AND (q.fresh_block IS NOT NULL OR q.retry_at IS NOT NULL)
        AND q.lease_holder NOT IN (
            SELECT l.objid::bigint
            FROM pg_locks l
            JOIN pg_database b ON b.oid = l.database AND b.datname = current_database()
            WHERE l.locktype = 'advisory' AND l.classid = hashtext('scan.deliverer')::oid
                AND l.objsubid = 2
        )
    FOR UPDATE SKIP LOCKED
)
UPDATE delivery_queues q
SET lease = NULL, lease_holder = NULL, leased_until = %(now)s
FROM dead
WHERE q.webhook_id = dead.webhook_id
RETURNING q.webhook_id;
