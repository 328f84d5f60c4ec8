-- Makes the numbers of holders by range what token_holders gives.
-- params: none
-- returns: nothing
-- index: token_holder_ranges_pkey
WITH ceased AS (
    DELETE FROM token_holder_ranges r
    WHERE NOT EXISTS (SELECT FROM expected_token_holder_ranges e
        WHERE e.token_address = r.token_address AND e.balance_range = r.balance_range)
)
INSERT INTO token_holder_ranges AS r (token_address, balance_range, holder_count)
SELECT token_address, balance_range, holder_count
FROM expected_token_holder_ranges
ON CONFLICT (token_address, balance_range) DO UPDATE SET holder_count = EXCLUDED.holder_count
WHERE r.holder_count <> EXCLUDED.holder_count;
