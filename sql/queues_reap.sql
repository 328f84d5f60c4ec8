-- Ends the leases of processes that have died: PostgreSQL has let go of the lock each one held.
-- A process that cannot be told dead this way loses its leases when they expire.
-- params: now timestamptz
-- returns: webhook_id for each
-- index: delivery_queues_waiting
UPDATE delivery_queues
SET lease = NULL, lease_holder = NULL, leased_until = %(now)s
WHERE leased_until > %(now)s
    AND (fresh_block IS NOT NULL OR retry_at IS NOT NULL)
    AND lease_holder NOT IN (
        SELECT l.objid::bigint
        FROM pg_locks l
        JOIN pg_database b ON b.oid = l.database AND b.datname = current_database()
        WHERE l.locktype = 'advisory' AND l.classid = hashtext('scan.deliverer')::oid
            AND l.objsubid = 2
    )
RETURNING webhook_id;
