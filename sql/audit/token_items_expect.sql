-- Every id that was ever moved, by all transfers. Reads expected_item_balances.
-- params: none
-- returns: nothing; makes the temporary table expected_token_items
-- index: none
CREATE TEMPORARY TABLE expected_token_items ON COMMIT DROP AS
WITH moved AS (
    SELECT token_address, token_id, min(ordinal) AS first_ordinal, max(ordinal) AS last_ordinal,
        count(*) AS transfer_count
    FROM token_transfers
    WHERE token_id IS NOT NULL
    GROUP BY token_address, token_id
), owners AS (
    SELECT first_ordinal, count(*) AS owners
    FROM expected_item_balances
    WHERE balance > 0
    GROUP BY first_ordinal
)
SELECT m.token_address, m.token_id, m.first_ordinal, m.transfer_count,
    CASE WHEN k.type = 'BEP721' THEN nullif(
        x.to_address, '\x0000000000000000000000000000000000000000'::bytea) END AS owner,
    CASE WHEN k.type <> 'BEP721' THEN coalesce(o.owners, 0) END AS owner_count
FROM moved m
JOIN tokens k ON k.address = m.token_address
JOIN token_transfers x ON x.ordinal = m.last_ordinal
LEFT JOIN owners o ON o.first_ordinal = m.first_ordinal;
