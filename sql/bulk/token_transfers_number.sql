-- In DuckDB: token transfers of all files with their ordinals: a row's place in its file, after those of the
-- files before.
-- params: none
-- returns: nothing; makes the view token_transfers
-- index: none
CREATE OR REPLACE TEMPORARY VIEW token_transfers AS
SELECT f.rows_before + s.file_row_number AS ordinal, s.*
FROM token_transfers_files s
JOIN file_ordinals f ON f.kind = 'token_transfers' AND f.filename = s.filename;
