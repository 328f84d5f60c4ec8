-- What the rows of blocks have to hold of the rows in them and before them, and of the blocks before
-- them.
-- params: none
-- returns: nothing; makes the temporary table expected_blocks
-- index: none
CREATE TEMPORARY TABLE expected_blocks ON COMMIT DROP AS
SELECT b.number,
    coalesce(sum(t.entries) OVER before, 0) AS transactions_before,
    coalesce(sum(x.entries) OVER before, 0) AS token_transfers_before,
    coalesce(sum(d.entries) OVER before, 0) AS dex_trades_before,
    coalesce(t.entries, 0) AS transaction_count,
    coalesce(x.entries, 0) AS token_transfer_count,
    coalesce(d.entries, 0) AS dex_trade_count,
    coalesce(t.gas_price_sum, 0) AS gas_price_sum,
    coalesce(sum(i.entries) OVER before, 0) AS internal_transfers_before,
    coalesce(i.entries, 0) AS internal_transfer_count,
    count(*) FILTER (WHERE b.traced) OVER before AS traced_before,
    count(*) FILTER (WHERE NOT b.traced) OVER before AS untraced_before,
    coalesce(sum(l.entries) OVER before, 0) AS logs_before,
    coalesce(l.entries, 0) AS log_count
FROM blocks b
LEFT JOIN (
    SELECT block_number, count(*) AS entries, sum(gas_price) AS gas_price_sum
    FROM transactions
    GROUP BY block_number
) AS t ON t.block_number = b.number
LEFT JOIN (
    SELECT block_number, count(*) AS entries FROM token_transfers GROUP BY block_number
) AS x ON x.block_number = b.number
LEFT JOIN (
    SELECT block_number, count(*) AS entries FROM dex_trades GROUP BY block_number
) AS d ON d.block_number = b.number
LEFT JOIN (
    SELECT block_number, count(*) AS entries FROM internal_transfers GROUP BY block_number
) AS i ON i.block_number = b.number
LEFT JOIN (
    SELECT block_number, count(*) AS entries FROM logs GROUP BY block_number
) AS l ON l.block_number = b.number
WINDOW before AS (ORDER BY b.number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING);
