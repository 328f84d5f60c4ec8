-- What fills the database's disk. The folder is null unless the server is on the machine of this client:
-- the same path elsewhere is another disk.
-- params: none
-- returns: one row: folder of the data text null, also where this role may not read the setting (see
--   pg_read_all_settings); size of the database in bytes bigint; when the newest block was made in Unix
--   seconds bigint, null without blocks
-- index: blocks_pkey
SELECT
    (
        SELECT s.setting
        FROM pg_settings s
        WHERE s.name = 'data_directory' AND inet_server_addr() IS NOT DISTINCT FROM inet_client_addr()
    ),
    pg_database_size(current_database()),
    (SELECT extract(epoch FROM b.timestamp)::bigint FROM blocks b ORDER BY b.number DESC LIMIT 1);
