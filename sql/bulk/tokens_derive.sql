-- In DuckDB: how many hold each token and how much, how often it was moved, and its items.
-- params: none
-- returns: what the table token_counts of DuckDB is made of
-- index: none
WITH holders AS (
    SELECT token_address, count(*) FILTER (WHERE NOT starts_with(balance, '-')) AS holders,
        count(*) FILTER (WHERE starts_with(balance, '-')) AS negative_holders,
        sum(limb_0) FILTER (WHERE NOT starts_with(balance, '-')) AS limb_0,
        sum(limb_1) FILTER (WHERE NOT starts_with(balance, '-')) AS limb_1,
        sum(limb_2) FILTER (WHERE NOT starts_with(balance, '-')) AS limb_2,
        sum(limb_3) FILTER (WHERE NOT starts_with(balance, '-')) AS limb_3
    FROM token_holders
    GROUP BY token_address
), transfers AS (
    SELECT token_address, count(*) AS transfers FROM token_transfers_files GROUP BY token_address
), items AS (
    SELECT token_address, count(*) AS items FROM token_items GROUP BY token_address
)
SELECT k.address, coalesce(h.holders, 0) AS holder_count,
    coalesce(h.negative_holders, 0) AS negative_holder_count, x.transfers AS transfer_count,
    CASE WHEN k.type = 'BEP20' OR h.limb_0 IS NULL THEN '0'
        ELSE sum_text(h.limb_0, h.limb_1, h.limb_2, h.limb_3) END AS held_supply,
    coalesce(i.items, 0) AS item_count
FROM decided_tokens k
JOIN transfers x ON x.token_address = k.address
LEFT JOIN holders h ON h.token_address = k.address
LEFT JOIN items i ON i.token_address = k.address;
