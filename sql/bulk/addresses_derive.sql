-- In DuckDB: every address seen, with its counters. Reads token_items and item_balances. A row's `role`
-- is what it counts as: where an address is on both sides, the second row counts on its side alone.
-- params: none
-- returns: nothing; makes the table addresses
-- index: none
CREATE OR REPLACE TABLE addresses AS
WITH seen AS (
    SELECT from_address AS address, block_number, 'sent' AS role FROM transactions_files
    UNION ALL
    SELECT to_address, block_number,
        CASE WHEN to_address = from_address THEN 'received from itself' ELSE 'received' END
    FROM transactions_files
    WHERE to_address IS NOT NULL
    UNION ALL
    SELECT contract_address, block_number,
        CASE WHEN contract_address = from_address THEN 'seen' ELSE 'created' END
    FROM transactions_files
    WHERE contract_address IS NOT NULL
    UNION ALL
    SELECT from_address, block_number, 'transfer sent' FROM token_transfers_files
    UNION ALL
    SELECT to_address, block_number,
        CASE WHEN to_address = from_address THEN 'transfer received from itself'
            ELSE 'transfer received' END
    FROM token_transfers_files
    UNION ALL
    SELECT maker, block_number, 'trade' FROM dex_trades_files
    UNION ALL
    SELECT from_address, block_number, 'internal sent' FROM internal_transfers_files
    UNION ALL
    SELECT to_address, block_number,
        CASE WHEN to_address = from_address THEN 'internal received from itself'
            ELSE 'internal received' END
    FROM internal_transfers_files
    UNION ALL
    SELECT miner, number, 'seen' FROM blocks_files
    UNION ALL
    SELECT address, block_number, 'seen' FROM withdrawals_files
    UNION ALL
    SELECT address, block_number, 'seen' FROM log_emitters_files
    UNION ALL
    SELECT address, block_number, 'log' FROM logs_files
    UNION ALL
    SELECT owner, NULL, 'item' FROM token_items WHERE owner IS NOT NULL
    UNION ALL
    SELECT holder, NULL, 'item' FROM item_balances WHERE NOT starts_with(balance, '-')
)
SELECT address, min(block_number) AS first_seen, max(block_number) AS last_seen,
    count(*) FILTER (WHERE role IN ('sent', 'received', 'created')) AS transaction_count,
    count(*) FILTER (WHERE role = 'sent') AS sent_count,
    count(*) FILTER (WHERE role IN ('received', 'received from itself')) AS received_count,
    count(*) FILTER (WHERE role IN ('transfer sent', 'transfer received')) AS transfer_count,
    count(*) FILTER (WHERE role = 'transfer sent') AS transfer_sent_count,
    count(*) FILTER (WHERE role IN ('transfer received', 'transfer received from itself'))
        AS transfer_received_count,
    count(*) FILTER (WHERE role = 'trade') AS trade_count,
    count(*) FILTER (WHERE role IN ('internal sent', 'internal received')) AS internal_count,
    count(*) FILTER (WHERE role = 'internal sent') AS internal_sent_count,
    count(*) FILTER (WHERE role IN ('internal received', 'internal received from itself'))
        AS internal_received_count,
    nullif(count(*) FILTER (WHERE role = 'item'), 0) AS item_count,
    nullif(count(*) FILTER (WHERE role = 'log'), 0) AS log_count
FROM seen
GROUP BY address;
