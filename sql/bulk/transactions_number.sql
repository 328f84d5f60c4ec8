-- In DuckDB: transactions of the files that bulk/files_set or bulk/partition_set chose, with their
-- ordinals: a row's place in its file, after those of the files before.
-- params: none
-- returns: nothing; makes the view transactions
-- index: none
CREATE OR REPLACE TEMPORARY VIEW transactions AS
SELECT f.rows_before + s.file_row_number AS ordinal, s.*,
    uint256(s.value_0, s.value_1, s.value_2, s.value_3) AS value,
    uint256(s.fee_0, s.fee_1, s.fee_2, s.fee_3) AS fee
FROM read_parquet(getvariable('chosen').files['transactions'], filename => true, file_row_number => true) s
JOIN file_ordinals f ON f.kind = 'transactions' AND f.filename = s.filename;
