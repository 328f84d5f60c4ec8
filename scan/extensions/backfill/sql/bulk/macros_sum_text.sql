-- In DuckDB: the decimal digits of a sum over uint256, from the sums of its limbs, which may be below zero
-- or beyond 64 bits. limb_1 is bounded so that the sum of the parts stays within a HUGEINT.
-- params: none
-- returns: nothing; makes the macro sum_text
-- index: none
CREATE OR REPLACE TEMPORARY MACRO sum_text(limb_0, limb_1, limb_2, limb_3) AS CASE
    WHEN limb_2 = 0 AND limb_3 = 0 AND abs(limb_1) < 2305843009213693952
        THEN CAST(limb_1 * 18446744073709551616::HUGEINT + limb_0 AS VARCHAR)
    ELSE integer_text(limb_0, limb_1, limb_2, limb_3)
END;
