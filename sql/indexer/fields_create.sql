-- Room for blocks and transactions as the node has them, for as long as the transaction lasts.
-- params: none
-- returns: nothing; makes the temporary tables fetched_blocks and fetched_transactions
-- index: none
DO $$
BEGIN
    CREATE TEMPORARY TABLE fetched_blocks ON COMMIT DROP AS TABLE blocks WITH NO DATA;
    CREATE TEMPORARY TABLE fetched_transactions ON COMMIT DROP AS TABLE transactions WITH NO DATA;
END
$$;
