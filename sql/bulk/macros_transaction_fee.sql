-- In DuckDB: transaction_fee() of sql/schema/fees.sql, which the files have.
-- params: none
-- returns: nothing; makes the macro transaction_fee
-- index: none
CREATE OR REPLACE TEMPORARY MACRO transaction_fee(t) AS uint256(t.fee_0, t.fee_1, t.fee_2, t.fee_3);
