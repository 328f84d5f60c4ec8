-- The values of a server and its database that `scan doctor` judges.
-- params: settings text[]
-- returns: one row: version integer, names and values of these settings jsonb, size in bytes
--   bigint, connections in use integer, invalid indexes text[], time of the server in Unix seconds
--   double precision
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
    ARRAY(
        SELECT c.relname::text
        FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE NOT i.indisvalid
        ORDER BY c.relname
    ),
    extract(epoch FROM clock_timestamp())::double precision;
