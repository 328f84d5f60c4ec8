-- Where the server has its data. Null unless the server is on the machine of this client: the same path
-- elsewhere is another disk.
-- params: none
-- returns: path text; no row, or null, also where this role may not read the setting (see
--   pg_read_all_settings)
-- index: none
SELECT s.setting
FROM pg_settings s
WHERE s.name = 'data_directory' AND inet_server_addr() IS NOT DISTINCT FROM inet_client_addr();
