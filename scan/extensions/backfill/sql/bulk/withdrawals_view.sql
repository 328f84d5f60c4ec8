-- In DuckDB: withdrawals in the form that definitions of sql/schema/ read.
-- params: none
-- returns: nothing; makes the view withdrawals
-- index: none
CREATE OR REPLACE TEMPORARY VIEW withdrawals AS
SELECT w.address, w.block_number, w.unit,
    uint256(w.amount_wei_0, w.amount_wei_1, w.amount_wei_2, w.amount_wei_3) AS amount_wei
FROM withdrawals_files w;
