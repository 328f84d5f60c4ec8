-- Ranges of balances that have another number of holders than token_holders; none is as good as 0.
-- params: most integer
-- returns: token and range, what is stored or null, what is expected or null (jsonb), how many there are
-- index: none
SELECT hex(token_address) || ' range ' || balance_range,
    jsonb_build_object('holder_count', r.holder_count),
    jsonb_build_object('holder_count', e.holder_count), count(*) OVER ()
FROM token_holder_ranges r
FULL JOIN expected_token_holder_ranges e USING (token_address, balance_range)
WHERE coalesce(r.holder_count, 0) <> coalesce(e.holder_count, 0)
ORDER BY token_address, balance_range
LIMIT %(most)s;
