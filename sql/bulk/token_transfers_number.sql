-- In DuckDB: token transfers of the files that bulk/files_set or bulk/partition_set chose, with their
-- ordinals: a row's place in its file, after those of the files before.
-- params: none
-- returns: nothing; makes the view token_transfers
-- index: none
CREATE OR REPLACE TEMPORARY VIEW token_transfers AS
SELECT f.rows_before + s.file_row_number AS ordinal, s.*,
    uint256(s.value_0, s.value_1, s.value_2, s.value_3) AS value,
    uint256(s.token_id_0, s.token_id_1, s.token_id_2, s.token_id_3) AS token_id
FROM read_parquet(getvariable('chosen').files['token_transfers'], filename => true, file_row_number => true) s
JOIN file_ordinals f ON f.kind = 'token_transfers' AND f.filename = s.filename;
