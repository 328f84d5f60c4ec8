-- In DuckDB: every id that was ever moved, by all transfers. Reads item_balances.
-- params: none
-- returns: what the table token_items of DuckDB is made of
-- index: none
WITH moved AS (
    SELECT token_address, token_id_0, token_id_1, token_id_2, token_id_3, count(*) AS transfer_count,
        min(ordinal) AS first_ordinal, arg_min(block_number, ordinal) AS first_block,
        arg_max(to_address, ordinal) AS last_owner
    FROM token_transfers
    WHERE token_id_0 IS NOT NULL AND in_bucket(token_address)
    GROUP BY token_address, token_id_0, token_id_1, token_id_2, token_id_3
), owners AS (
    SELECT first_ordinal, count(*) AS owners
    FROM item_balances
    WHERE NOT starts_with(balance, '-') AND in_bucket(token_address)
    GROUP BY first_ordinal
)
SELECT m.token_address, m.token_id_0, m.token_id_1, m.token_id_2, m.token_id_3, m.first_ordinal,
    m.first_block, m.transfer_count,
    CASE WHEN k.type = 'BEP721' AND m.last_owner <> unhex(repeat('00', 20)) THEN m.last_owner END
        AS owner,
    CASE WHEN k.type <> 'BEP721' THEN coalesce(o.owners, 0) END AS owner_count
FROM moved m
JOIN decided_tokens k ON k.address = m.token_address
LEFT JOIN owners o ON o.first_ordinal = m.first_ordinal;
