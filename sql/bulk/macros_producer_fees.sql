-- In DuckDB: producer_fees() of sql/schema/fees.sql, which the files have.
-- params: none
-- returns: nothing; makes the macro producer_fees
-- index: none
CREATE OR REPLACE TEMPORARY MACRO producer_fees(b) AS uint256(
    b.producer_fees_0, b.producer_fees_1, b.producer_fees_2, b.producer_fees_3);
