-- In DuckDB: the decimal digits of a uint256 in four limbs, lowest first; null where they are null.
-- params: none
-- returns: nothing; makes the macro uint256_text
-- index: none
CREATE OR REPLACE TEMPORARY MACRO uint256_text(limb_0, limb_1, limb_2, limb_3) AS CASE
    WHEN limb_0 IS NULL THEN NULL
    WHEN limb_1 = 0 AND limb_2 = 0 AND limb_3 = 0 THEN CAST(limb_0 AS VARCHAR)
    WHEN limb_2 = 0 AND limb_3 = 0
        THEN CAST(limb_1::UHUGEINT * 18446744073709551616::UHUGEINT + limb_0 AS VARCHAR)
    ELSE integer_text(limb_0, limb_1, limb_2, limb_3)
END;
