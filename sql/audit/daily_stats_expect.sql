-- What each day counts, by the rows.
-- params: none
-- returns: nothing; makes the temporary table expected_daily_stats
-- index: blocks_pkey, transactions_pkey, token_transfers_pkey, dex_trades_pkey, internal_transfers_pkey,
--   withdrawals_pkey, log_emitters_by_block
CREATE TEMPORARY TABLE expected_daily_stats ON COMMIT DROP AS
WITH placed AS MATERIALIZED (
    SELECT number, max(day_of(timestamp)) OVER (ORDER BY number) AS day FROM blocks
), days AS MATERIALIZED (
    SELECT day, min(number) AS first_block, max(number) AS last_block FROM placed GROUP BY day
), added AS MATERIALIZED (
    SELECT p.day, count(*) AS addresses
    FROM expected_addresses e
    JOIN placed p ON p.number = e.first_seen
    GROUP BY p.day
)
SELECT d.day, d.first_block, d.last_block, t.transaction_count,
    t.failed_transaction_count,
    (SELECT count(*) FROM addresses_seen(d.first_block, d.last_block)) AS active_address_count,
    coalesce(a.addresses, 0) AS new_address_count, t.created_contract_count,
    t.token_transfer_count, t.dex_trade_count, t.gas_used, t.fees_wei, t.burnt_wei
FROM days d
CROSS JOIN LATERAL block_totals(d.first_block, d.last_block) AS t
LEFT JOIN added a ON a.day = d.day;
