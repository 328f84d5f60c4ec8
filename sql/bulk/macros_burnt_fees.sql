-- In DuckDB: burnt_fees() of sql/schema/fees.sql, which the files have.
-- params: none
-- returns: nothing; makes the macro burnt_fees
-- index: none
CREATE OR REPLACE TEMPORARY MACRO burnt_fees(b) AS uint256(
    b.burnt_0, b.burnt_1, b.burnt_2, b.burnt_3);
