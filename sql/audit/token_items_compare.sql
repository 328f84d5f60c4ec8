-- Items whose owner or counters are not what the transfers give.
-- params: most integer
-- returns: item, what is stored or null, what is expected or null (jsonb), how many there are
-- index: none
SELECT hex(token_address) || ', first moved by transfer ' || first_ordinal, stored, expected, count(*) OVER ()
FROM (
    SELECT token_address, first_ordinal,
        to_jsonb(i) - 'token_address' - 'first_ordinal' AS stored,
        to_jsonb(e) - 'token_address' - 'first_ordinal' - 'token_id' AS expected
    FROM token_items i
    FULL JOIN expected_token_items e USING (token_address, first_ordinal)
    WHERE (i.transfer_count, i.owner, i.owner_count)
        IS DISTINCT FROM (e.transfer_count, e.owner, e.owner_count)
) AS compared
ORDER BY token_address, first_ordinal
LIMIT %(most)s;
