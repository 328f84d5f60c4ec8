-- Notes that a file was read whole.
-- params: file text, state text
-- returns: nothing
-- index: read_export_files_pkey
INSERT INTO read_export_files (file, state, read_at)
VALUES (%(file)s, %(state)s, now())
ON CONFLICT (file) DO UPDATE SET state = excluded.state, read_at = excluded.read_at;
