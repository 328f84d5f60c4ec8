-- How many hold each token and how much, how often it was moved, and its items. Reads expected_token_holders and
-- expected_token_items.
-- params: none
-- returns: nothing; makes the temporary table expected_tokens
-- index: none
CREATE TEMPORARY TABLE expected_tokens ON COMMIT DROP AS
SELECT k.address, coalesce(h.holders, 0) AS holder_count,
    coalesce(h.negative_holders, 0) AS negative_holder_count,
    coalesce(x.transfers, 0) AS transfer_count,
    CASE WHEN k.type = 'BEP20' THEN 0 ELSE coalesce(h.held, 0) END AS held_supply,
    coalesce(i.items, 0) AS item_count
FROM tokens k
LEFT JOIN (
    SELECT token_address, count(*) FILTER (WHERE balance > 0) AS holders,
        count(*) FILTER (WHERE balance < 0) AS negative_holders,
        sum(balance) FILTER (WHERE balance > 0) AS held
    FROM expected_token_holders
    GROUP BY token_address
) AS h ON h.token_address = k.address
LEFT JOIN (
    SELECT token_address, count(*) AS transfers FROM token_transfers GROUP BY token_address
) AS x ON x.token_address = k.address
LEFT JOIN (
    SELECT token_address, count(*) AS items FROM expected_token_items GROUP BY token_address
) AS i ON i.token_address = k.address;
