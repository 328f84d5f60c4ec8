-- Tokens whose counters are not what the transfers give.
-- params: most integer
-- returns: token, what is stored, what is expected (jsonb), how many there are
-- index: none
SELECT hex(address), stored, expected, count(*) OVER ()
FROM (
    SELECT k.address,
        jsonb_build_object('holder_count', k.holder_count,
            'negative_holder_count', k.negative_holder_count,
            'transfer_count', k.transfer_count, 'held_supply', k.held_supply,
            'item_count', k.item_count) AS stored,
        to_jsonb(e) - 'address' AS expected
    FROM tokens k
    JOIN expected_tokens e USING (address)
) AS compared
WHERE stored <> expected
ORDER BY address
LIMIT %(most)s;
