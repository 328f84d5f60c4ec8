-- In DuckDB: a uint256 of four limbs, lowest first, as BIGNUM; null where they are null. Of up to 127 bits
-- it is cast from a HUGEINT, beyond from its digits. Sums, signs and comparisons of BIGNUM are exact, while
-- a product is a DOUBLE.
-- params: none
-- returns: nothing; makes the macro uint256
-- index: none
CREATE OR REPLACE TEMPORARY MACRO uint256(limb_0, limb_1, limb_2, limb_3) AS CASE
    WHEN limb_0 IS NULL THEN NULL
    WHEN limb_1 = 0 AND limb_2 = 0 AND limb_3 = 0 THEN CAST(limb_0 AS BIGNUM)
    WHEN limb_2 = 0 AND limb_3 = 0 AND limb_1 < 9223372036854775808
        THEN CAST(limb_1::HUGEINT * 18446744073709551616::HUGEINT + limb_0 AS BIGNUM)
    ELSE CAST(integer_text(limb_0, limb_1, limb_2, limb_3) AS BIGNUM)
END;
