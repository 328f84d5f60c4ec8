-- In DuckDB: what each day counts, as audit/daily_stats_expect. A block belongs to the
-- newest day that it or a block before it has. Reads blocks and addresses.
-- params: none
-- returns: what the table daily_stats of DuckDB is made of
-- index: none
WITH placed AS MATERIALIZED (
    SELECT number, max(timestamp_s // 86400) OVER (ORDER BY number) AS day FROM blocks
), of_blocks AS (
    SELECT p.day, min(b.number) AS first_block, max(b.number) AS last_block,
        sum(b.transaction_count) AS transaction_count,
        sum(b.token_transfer_count) AS token_transfer_count,
        sum(b.dex_trade_count) AS dex_trade_count,
        sum_text(sum(gas_used_0), sum(gas_used_1), sum(gas_used_2), sum(gas_used_3)) AS gas_used,
        sum_text(sum(burnt_0), sum(burnt_1), sum(burnt_2), sum(burnt_3)) AS burnt_wei
    FROM blocks b
    JOIN placed p ON p.number = b.number
    GROUP BY p.day
), of_transactions AS (
    SELECT p.day, count(*) FILTER (WHERE NOT t.status) AS failed,
        count(*) FILTER (WHERE t.status AND t.contract_address IS NOT NULL) AS created,
        sum_text(sum(fee_0), sum(fee_1), sum(fee_2), sum(fee_3)) AS fees
    FROM transactions_files t
    JOIN placed p ON p.number = t.block_number
    GROUP BY p.day
), of_internal_transfers AS (
    SELECT p.day, count(*) AS created
    FROM internal_transfers_files i
    JOIN placed p ON p.number = i.block_number
    WHERE i.type IN (1, 2) -- create, create2: internal_transfer_type() of schema.sql
    GROUP BY p.day
), added AS (
    SELECT p.day, count(*) AS addresses
    FROM addresses a
    JOIN placed p ON p.number = a.first_seen
    GROUP BY p.day
), seen AS (
    SELECT from_address AS address, block_number FROM transactions_files
    UNION ALL
    SELECT to_address, block_number FROM transactions_files WHERE to_address IS NOT NULL
    UNION ALL
    SELECT contract_address, block_number
    FROM transactions_files
    WHERE contract_address IS NOT NULL
    UNION ALL
    SELECT from_address, block_number FROM token_transfers_files
    UNION ALL
    SELECT to_address, block_number FROM token_transfers_files
    UNION ALL
    SELECT maker, block_number FROM dex_trades_files
    UNION ALL
    SELECT from_address, block_number FROM internal_transfers_files
    UNION ALL
    SELECT to_address, block_number FROM internal_transfers_files
    UNION ALL
    SELECT miner, number FROM blocks
    UNION ALL
    SELECT address, block_number FROM withdrawals_files
    UNION ALL
    SELECT address, block_number FROM log_emitters_files
), active AS (
    SELECT day, count(*) AS addresses
    FROM (
        SELECT DISTINCT p.day, s.address FROM seen s JOIN placed p ON p.number = s.block_number
    ) AS distinct_addresses
    GROUP BY day
)
SELECT b.*, coalesce(t.failed, 0) AS failed_transaction_count,
    coalesce(a.addresses, 0) AS active_address_count,
    coalesce(n.addresses, 0) AS new_address_count,
    coalesce(t.created, 0) + coalesce(i.created, 0) AS created_contract_count,
    coalesce(t.fees, '0') AS fees_wei
FROM of_blocks b
LEFT JOIN of_transactions t ON t.day = b.day
LEFT JOIN of_internal_transfers i ON i.day = b.day
LEFT JOIN added n ON n.day = b.day
LEFT JOIN active a ON a.day = b.day;
