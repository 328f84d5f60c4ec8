-- Counts blocks already written for their days, but for addresses: see indexer/addresses_derive.
-- params: span block_range
-- returns: the first and the last of these blocks on each day, in their order
-- index: blocks_pkey, daily_stats_pkey, transactions_pkey,
--   internal_transfers_pkey
WITH days AS MATERIALIZED (
    SELECT day, min(number) AS first_block, max(number) AS last_block
    FROM (
        SELECT b.number, greatest(max(day_of(b.timestamp)) OVER (ORDER BY b.number),
            (SELECT max(s.day) FROM daily_stats s)) AS day
        FROM blocks b
        WHERE b.number BETWEEN (%(span)s::block_range).first_block
            AND (%(span)s::block_range).last_block
    ) AS placed
    GROUP BY day
), counted AS (
    INSERT INTO daily_stats AS s (day, first_block, last_block, transaction_count,
        failed_transaction_count, created_contract_count, token_transfer_count, dex_trade_count,
        gas_used, fees_wei, burnt_wei)
    SELECT d.day, d.first_block, d.last_block, sum(c.transaction_count),
        sum(c.failed_transaction_count), sum(c.created_contract_count),
        sum(c.token_transfer_count), sum(c.dex_trade_count), sum(c.gas_used), sum(c.fees_wei),
        sum(c.burnt_wei)
    FROM days d
    JOIN daily_stats_changes(%(span)s::block_range) c
        ON c.number BETWEEN d.first_block AND d.last_block
    GROUP BY d.day, d.first_block, d.last_block
    ON CONFLICT (day) DO UPDATE SET
        last_block = EXCLUDED.last_block,
        transaction_count = s.transaction_count + EXCLUDED.transaction_count,
        failed_transaction_count = s.failed_transaction_count + EXCLUDED.failed_transaction_count,
        created_contract_count = s.created_contract_count + EXCLUDED.created_contract_count,
        token_transfer_count = s.token_transfer_count + EXCLUDED.token_transfer_count,
        dex_trade_count = s.dex_trade_count + EXCLUDED.dex_trade_count,
        gas_used = s.gas_used + EXCLUDED.gas_used,
        fees_wei = s.fees_wei + EXCLUDED.fees_wei,
        burnt_wei = s.burnt_wei + EXCLUDED.burnt_wei
)
SELECT first_block, last_block FROM days ORDER BY first_block;
