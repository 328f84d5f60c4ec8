-- Makes the number of tokens kept at hand right.
-- params: none
-- returns: nothing
-- index: none
UPDATE chain c
SET token_count = e.token_count
FROM expected_chain e
WHERE c.token_count <> e.token_count;
