-- In DuckDB: credits in the form that definitions of sql/schema/ read.
-- params: none
-- returns: nothing; makes the view credits
-- index: none
CREATE OR REPLACE TEMPORARY VIEW credits AS
SELECT c.ordinal, c.block_number, c.type, c.address,
    uint256(c.amount_wei_0, c.amount_wei_1, c.amount_wei_2, c.amount_wei_3) AS amount_wei
FROM credits_files c;
