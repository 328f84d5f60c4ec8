-- In DuckDB: dex trades of the files that bulk/files_set or bulk/partition_set chose, with their
-- ordinals: a row's place in its file, after those of the files before.
-- params: none
-- returns: nothing; makes the view dex_trades
-- index: none
CREATE OR REPLACE TEMPORARY VIEW dex_trades AS
SELECT f.rows_before + s.file_row_number AS ordinal, s.*
FROM read_parquet(getvariable('chosen').files['dex_trades'], filename => true, file_row_number => true) s
JOIN file_ordinals f ON f.kind = 'dex_trades' AND f.filename = s.filename;
