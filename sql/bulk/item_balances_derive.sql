-- In DuckDB: net balances of BEP1155 items by all transfers.
-- params: none
-- returns: what the table item_balances of DuckDB is made of
-- index: none
WITH items AS (
    SELECT token_address, token_id_0, token_id_1, token_id_2, token_id_3,
        min(ordinal) AS first_ordinal
    FROM token_transfers
    WHERE token_id_0 IS NOT NULL AND in_bucket(token_address)
    GROUP BY token_address, token_id_0, token_id_1, token_id_2, token_id_3
), transfers AS (
    SELECT x.token_address, x.from_address, x.to_address, i.first_ordinal,
        x.value_0::HUGEINT AS limb_0, x.value_1::HUGEINT AS limb_1, x.value_2::HUGEINT AS limb_2, x.value_3::HUGEINT AS limb_3
    FROM token_transfers_files x
    JOIN decided_tokens k ON k.address = x.token_address AND k.type = 'BEP1155'
    JOIN items i USING (token_address, token_id_0, token_id_1, token_id_2, token_id_3)
    WHERE in_bucket(x.token_address)
), moves AS (
    SELECT token_address, to_address AS holder, first_ordinal, limb_0, limb_1, limb_2, limb_3
    FROM transfers
    UNION ALL
    SELECT token_address, from_address, first_ordinal, -limb_0, -limb_1, -limb_2, -limb_3
    FROM transfers
), balances AS (
    SELECT token_address, holder, first_ordinal,
        sum_text(sum(limb_0), sum(limb_1), sum(limb_2), sum(limb_3)) AS balance
    FROM moves
    WHERE holder <> unhex(repeat('00', 20))
    GROUP BY token_address, holder, first_ordinal
)
SELECT token_address, holder, first_ordinal, balance
FROM balances
WHERE balance <> '0';
