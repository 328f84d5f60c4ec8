-- In DuckDB: the text of rows of withdrawals.
-- params: none
-- returns: the table's columns
-- index: none
SELECT block_number, withdrawal_index, validator_index, bytea_text(address) AS address,
    uint256_text(amount_wei_0, amount_wei_1, amount_wei_2, amount_wei_3) AS amount_wei
FROM withdrawals_files;
