-- Has tokens read again, after blocks that are written, that emitted a log there or that a transaction called,
-- since not every token says by a Transfer what changes; those whose first block was 64 blocks before; and at a
-- day's first block those used on the day before, as a contract may have called one without a log. All others are read
-- in turn (indexer/tokens_list_idle).
-- params: span block_range
-- literals: none
-- returns: nothing
-- index: log_emitters_by_block, log_emitters_pkey, tokens_by_block, transactions_pkey, blocks_pkey, daily_stats_first_block_key, tokens_by_newest_supply,
--   tokens_pkey
UPDATE tokens k
SET supply_block = NULL
WHERE k.supply_block IS NOT NULL AND k.address IN (
    SELECT e.address
    FROM log_emitters e
    WHERE e.block_number BETWEEN (%(span)s::block_range).first_block AND (%(span)s::block_range).last_block
    UNION
    SELECT t.to_address
    FROM transactions t
    WHERE t.ordinal BETWEEN (%(span)s::block_range).first_transaction
        AND (%(span)s::block_range).last_transaction
    UNION
    SELECT f.address
    FROM tokens f
    WHERE f.block_number BETWEEN (%(span)s::block_range).first_block - 64 AND (%(span)s::block_range).last_block - 64
    UNION
    SELECT o.address
    FROM daily_stats s
    CROSS JOIN LATERAL (
        SELECT y.first_block FROM daily_stats y WHERE y.first_block < s.first_block
        ORDER BY y.first_block DESC LIMIT 1) AS before
    JOIN tokens o ON o.supply_block > before.first_block
    WHERE s.first_block = (%(span)s::block_range).first_block);
