-- Makes room for the counters of tokens, until the transaction ends.
-- params: none
-- returns: nothing; makes the temporary table token_counts
-- index: none
CREATE TEMPORARY TABLE token_counts ON COMMIT DROP AS
SELECT * FROM tokens_expected() WITH NO DATA;
