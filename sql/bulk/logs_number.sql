-- In DuckDB: logs of all files with their ordinals: a row's place in its file, after those of the
-- files before.
-- params: none
-- returns: nothing; makes the view logs
-- index: none
CREATE OR REPLACE TEMPORARY VIEW logs AS
SELECT f.rows_before + s.file_row_number AS ordinal, s.*
FROM logs_files s
JOIN file_ordinals f ON f.kind = 'logs' AND f.filename = s.filename;
