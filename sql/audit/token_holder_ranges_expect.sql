-- Holders by range of their balances, of tokens that are counted so.
-- params: none
-- returns: nothing; makes the temporary table expected_token_holder_ranges
-- index: none
CREATE TEMPORARY TABLE expected_token_holder_ranges ON COMMIT DROP AS
SELECT h.token_address, holder_range(h.balance, h.holder) AS balance_range, count(*) AS holder_count
FROM token_holders h
WHERE h.balance > 0 AND h.token_address IN (SELECT r.token_address FROM token_holder_ranges r)
GROUP BY 1, 2;
