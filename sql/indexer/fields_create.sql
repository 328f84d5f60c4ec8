-- Makes tables for the node's blocks and transactions, which last until the transaction ends.
-- params: none
-- returns: nothing; makes the temporary tables fetched_blocks and fetched_transactions
-- index: none
DO $$
BEGIN
    CREATE TEMPORARY TABLE fetched_blocks ON COMMIT DROP AS TABLE blocks WITH NO DATA;
    CREATE TEMPORARY TABLE fetched_transactions ON COMMIT DROP AS TABLE transactions WITH NO DATA;
END
$$;
