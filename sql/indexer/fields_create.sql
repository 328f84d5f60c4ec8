-- Room for transactions as the node has them, for as long as the transaction lasts.
-- params: none
-- returns: nothing; makes the temporary table fetched_transactions
-- index: none
CREATE TEMPORARY TABLE fetched_transactions ON COMMIT DROP AS TABLE transactions WITH NO DATA;
