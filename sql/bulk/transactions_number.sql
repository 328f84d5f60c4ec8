-- In DuckDB: transactions of all files with their ordinals: a row's place in its file, after those of the
-- files before.
-- params: none
-- returns: nothing; makes the view transactions
-- index: none
CREATE OR REPLACE TEMPORARY VIEW transactions AS
SELECT f.rows_before + s.file_row_number AS ordinal, s.*
FROM transactions_files s
JOIN file_ordinals f ON f.kind = 'transactions' AND f.filename = s.filename;
