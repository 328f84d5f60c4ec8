-- Inside a transaction that has locked the table: tells whether it is still to be loaded, and whether the
-- session that took the writer's lock (indexer/writer_lock) still has it. Another process that took the
-- lock meanwhile may have loaded the table, or discarded the backfill.
-- params: table text, writer_pid integer
-- returns: no row without a bulk backfill; else is_loaded, is_writer
-- index: bulk_backfill_pkey
SELECT %(table)s::text = ANY (b.loaded), EXISTS (
    SELECT
    FROM pg_locks l
    JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND l.mode = 'ExclusiveLock'
        AND l.pid = %(writer_pid)s::integer
        AND (l.classid::bigint << 32) | l.objid::bigint = hashtextextended('scan.indexer', 0))
FROM bulk_backfill b;
