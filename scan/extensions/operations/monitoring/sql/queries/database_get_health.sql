-- What stops a PostgreSQL server in the end: transaction ids that run out, WAL that is kept.
-- params: none
-- returns: one row: age of the oldest transaction id bigint, the age at which it is frozen bigint,
--   1 while archiving WAL fails, else 0, seconds since a WAL file was archived, or since the
--   server's statistics began, double precision (null where none is archived), bytes of WAL that an
--   inactive replication slot keeps bigint
-- index: none
SELECT
    (SELECT max(age(d.datfrozenxid))::bigint FROM pg_database d),
    current_setting('autovacuum_freeze_max_age')::bigint,
    coalesce(a.last_failed_time > coalesce(a.last_archived_time, '-infinity'), false)::integer,
    CASE WHEN current_setting('archive_mode') <> 'off'
        THEN extract(epoch FROM now() - coalesce(a.last_archived_time, a.stats_reset))::double precision
    END,
    (
        SELECT coalesce(max(pg_wal_lsn_diff(
            CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END,
            s.restart_lsn)), 0)::bigint
        FROM pg_replication_slots s
        WHERE NOT s.active
    )
FROM pg_stat_archiver a;
