-- In DuckDB: dex trades of all files with their ordinals: a row's place in its file, after those of the
-- files before.
-- params: none
-- returns: nothing; makes the view dex_trades
-- index: none
CREATE OR REPLACE TEMPORARY VIEW dex_trades AS
SELECT f.rows_before + s.file_row_number AS ordinal, s.*
FROM dex_trades_files s
JOIN file_ordinals f ON f.kind = 'dex_trades' AND f.filename = s.filename;
