-- Lists the databases of chains on the embedded server, with those that new ones have replaced.
-- params: none
-- returns: name text
-- index: none
SELECT datname FROM pg_database WHERE datname ~ '^(former_[0-9_]+_)?scan_[0-9]' ORDER BY datname;
