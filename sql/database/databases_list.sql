-- Lists the databases of chains on the embedded server.
-- params: none
-- returns: name text
-- index: none
SELECT datname FROM pg_database WHERE datname ~ '^scan_[0-9]' ORDER BY datname;
