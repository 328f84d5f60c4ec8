-- In DuckDB: the counters of tokens that were moved.
-- params: none
-- returns: what the table token_counts of DuckDB is made of
-- index: none
SELECT k.address, k.holder_count, k.negative_holder_count, k.transfer_count, k.held_supply,
    k.item_count
FROM tokens_expected() k
WHERE k.transfer_count > 0;
