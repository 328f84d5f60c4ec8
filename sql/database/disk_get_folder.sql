-- The server's data folder. It is null unless the server is on the machine of this client, as the same path
-- elsewhere is another disk.
-- params: none
-- returns: path text; no row, or null, also where this role may not read the setting (see
--   pg_read_all_settings)
-- index: none
SELECT s.setting
FROM pg_settings s
WHERE s.name = 'data_directory' AND inet_server_addr() IS NOT DISTINCT FROM inet_client_addr();
