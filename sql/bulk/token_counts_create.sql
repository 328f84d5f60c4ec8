-- Makes room for the counters of tokens, until the transaction ends.
-- params: none
-- returns: nothing; makes the temporary table token_counts
-- index: none
CREATE TEMPORARY TABLE token_counts (
    address bytea, holder_count bigint, negative_holder_count bigint, transfer_count bigint,
    held_supply numeric, item_count bigint
) ON COMMIT DROP;
