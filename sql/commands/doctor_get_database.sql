-- The values of a server and its database that `scan doctor` judges.
-- params: settings text[]
-- returns: one row: version integer, names and values of these settings jsonb, size in bytes
--   bigint, connections in use integer, age of the oldest transaction id bigint, its limit bigint,
--   invalid indexes text[], time of the server in Unix seconds double precision, last WAL file
--   archived in Unix seconds double precision null, failures of archiving since bigint, WAL held by
--   inactive replication slots in bytes bigint
-- index: none
SELECT
    current_setting('server_version_num')::integer,
    (
        SELECT jsonb_object_agg(name, setting)
        FROM pg_settings
        WHERE name = ANY (%(settings)s)
    ),
    pg_database_size(current_database()),
    (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend'),
    (SELECT max(age(datfrozenxid))::bigint FROM pg_database),
    current_setting('autovacuum_freeze_max_age')::bigint,
    ARRAY(
        SELECT c.relname::text
        FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE NOT i.indisvalid
        ORDER BY c.relname
    ),
    extract(epoch FROM clock_timestamp())::double precision,
    (SELECT extract(epoch FROM last_archived_time)::double precision FROM pg_stat_archiver),
    (
        SELECT count(*)
        FROM pg_stat_archiver
        WHERE last_failed_time > coalesce(last_archived_time, '-infinity')
    ),
    (
        SELECT coalesce(max(
            pg_wal_lsn_diff(
                CASE
                    WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                    ELSE pg_current_wal_lsn()
                END,
                restart_lsn
            )
        ), 0)::bigint
        FROM pg_replication_slots
        WHERE NOT active
    );
