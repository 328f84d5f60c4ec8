-- Makes items what the transfers give.
-- params: none
-- returns: nothing
-- index: token_items_pkey
WITH ceased AS (
    DELETE FROM token_items i
    WHERE NOT EXISTS (SELECT FROM expected_token_items e
        WHERE e.token_address = i.token_address AND e.first_ordinal = i.first_ordinal)
)
INSERT INTO token_items AS i (token_address, first_ordinal, transfer_count, owner, owner_count)
SELECT token_address, first_ordinal, transfer_count, owner, owner_count
FROM expected_token_items
ON CONFLICT (token_address, first_ordinal) DO UPDATE SET
    transfer_count = EXCLUDED.transfer_count,
    owner = EXCLUDED.owner,
    owner_count = EXCLUDED.owner_count
WHERE (i.transfer_count, i.owner, i.owner_count)
    IS DISTINCT FROM (EXCLUDED.transfer_count, EXCLUDED.owner, EXCLUDED.owner_count);
