-- Where the server has its data; pg_settings shows it to superusers and pg_read_all_settings alone.
-- params: none
-- returns: no row where it is not shown; else the path
-- index: none
SELECT setting FROM pg_settings WHERE name = 'data_directory';
