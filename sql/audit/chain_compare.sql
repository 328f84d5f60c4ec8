-- Whether the number of tokens kept at hand is right.
-- params: most integer
-- returns: no row when it is; else what, what is stored, what is expected (jsonb), 1
-- index: none
SELECT 'the chain', jsonb_build_object('token_count', c.token_count), to_jsonb(e), 1::bigint
FROM chain c
CROSS JOIN expected_chain e
WHERE c.token_count <> e.token_count
LIMIT %(most)s;
