-- How many tokens there are.
-- params: none
-- returns: nothing; makes the temporary table expected_chain
-- index: none
CREATE TEMPORARY TABLE expected_chain ON COMMIT DROP AS
SELECT count(*) AS token_count FROM tokens;
