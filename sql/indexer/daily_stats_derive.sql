-- Counts blocks already written for their days, but for addresses: see indexer/addresses_derive.
-- params: block_from bigint, block_to bigint
-- returns: the first and the last of these blocks on each day, in their order
-- index: blocks_pkey, daily_stats_pkey, transactions_pkey,
--   internal_transfers_pkey
WITH days AS MATERIALIZED (
    SELECT day, min(number) AS first_block, max(number) AS last_block
    FROM (
        SELECT b.number, greatest(max(day_of(b.timestamp)) OVER (ORDER BY b.number),
            (SELECT max(s.day) FROM daily_stats s)) AS day
        FROM blocks b
        WHERE b.number BETWEEN %(block_from)s AND %(block_to)s
    ) AS placed
    GROUP BY day
), counted AS (
    INSERT INTO daily_stats AS s (day, first_block, last_block, transaction_count,
        failed_transaction_count, created_contract_count, token_transfer_count, dex_trade_count,
        gas_used, fees_wei, burnt_wei)
    SELECT d.day, d.first_block, d.last_block, t.transaction_count,
        t.failed_transaction_count, t.created_contract_count, t.token_transfer_count,
        t.dex_trade_count, t.gas_used, t.fees_wei, t.burnt_wei
    FROM days d
    CROSS JOIN LATERAL block_totals(d.first_block, d.last_block) AS t
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
