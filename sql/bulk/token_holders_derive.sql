-- In DuckDB: net balances by all transfers, as the sums of their limbs.
-- params: none
-- returns: what the table token_holders of DuckDB is made of
-- index: none
WITH moves AS (
    SELECT token_address, to_address AS holder, value_0::HUGEINT AS limb_0,
        value_1::HUGEINT AS limb_1, value_2::HUGEINT AS limb_2, value_3::HUGEINT AS limb_3
    FROM token_transfers_files
    WHERE in_bucket(to_address)
    UNION ALL
    SELECT token_address, from_address, -value_0::HUGEINT, -value_1::HUGEINT, -value_2::HUGEINT,
        -value_3::HUGEINT
    FROM token_transfers_files
    WHERE in_bucket(from_address)
), balances AS (
    SELECT holder, token_address, sum(limb_0) AS limb_0, sum(limb_1) AS limb_1,
        sum(limb_2) AS limb_2, sum(limb_3) AS limb_3
    FROM moves
    WHERE holder <> unhex(repeat('00', 20))
    GROUP BY holder, token_address
)
SELECT holder, token_address, limb_0, limb_1, limb_2, limb_3,
    sum_text(limb_0, limb_1, limb_2, limb_3) AS balance
FROM balances
WHERE sum_text(limb_0, limb_1, limb_2, limb_3) <> '0';
