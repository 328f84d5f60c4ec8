-- In DuckDB: the decimal digits of a uint256 in four limbs, lowest first; null where they are null.
-- A HUGEINT becomes text in 0.2 us, a UHUGEINT in 12.
-- params: none
-- returns: nothing; makes the macro uint256_text
-- index: none
CREATE OR REPLACE TEMPORARY MACRO uint256_text(limb_0, limb_1, limb_2, limb_3) AS CASE
    WHEN limb_0 IS NULL THEN NULL
    WHEN limb_1 = 0 AND limb_2 = 0 AND limb_3 = 0 THEN CAST(limb_0 AS VARCHAR)
    WHEN limb_2 = 0 AND limb_3 = 0 AND limb_1 < 9223372036854775808
        THEN CAST(limb_1::HUGEINT * 18446744073709551616::HUGEINT + limb_0 AS VARCHAR)
    ELSE integer_text(limb_0, limb_1, limb_2, limb_3)
END;
