-- In DuckDB: every address seen, with its counters and the coin that came in less what went out, in
-- limbs. Reads token_items and item_balances. Each source is grouped before all are brought together.
-- params: none
-- returns: what the table addresses of DuckDB is made of
-- index: none
WITH seen AS (
    SELECT from_address AS address, min(block_number) AS first_seen,
        max(block_number) AS last_seen, count(*) AS transactions, count(*) AS sent,
        count(*) FILTER (WHERE status AND value_0 | value_1 | value_2 | value_3 > 0) AS coin_sent,
        -sum(fee_0) - coalesce(sum(value_0) FILTER (WHERE status), 0) AS net_0,
        -sum(fee_1) - coalesce(sum(value_1) FILTER (WHERE status), 0) AS net_1,
        -sum(fee_2) - coalesce(sum(value_2) FILTER (WHERE status), 0) AS net_2,
        -sum(fee_3) - coalesce(sum(value_3) FILTER (WHERE status), 0) AS net_3
    FROM transactions_files
    WHERE in_bucket(from_address)
    GROUP BY from_address
    UNION ALL BY NAME
    SELECT to_address AS address, min(block_number) AS first_seen,
        max(block_number) AS last_seen,
        count(*) FILTER (WHERE to_address <> from_address) AS transactions, count(*) AS received,
        count(*) FILTER (WHERE status AND value_0 | value_1 | value_2 | value_3 > 0
            AND to_address <> from_address) AS coin_received,
        sum(value_0) FILTER (WHERE status) AS net_0, sum(value_1) FILTER (WHERE status) AS net_1,
        sum(value_2) FILTER (WHERE status) AS net_2, sum(value_3) FILTER (WHERE status) AS net_3
    FROM transactions_files
    WHERE to_address IS NOT NULL AND in_bucket(to_address)
    GROUP BY to_address
    UNION ALL BY NAME
    SELECT contract_address AS address, min(block_number) AS first_seen,
        max(block_number) AS last_seen,
        count(*) FILTER (WHERE contract_address <> from_address) AS transactions,
        count(*) FILTER (WHERE status AND value_0 | value_1 | value_2 | value_3 > 0
            AND contract_address <> from_address) AS coin_received,
        sum(value_0) FILTER (WHERE status) AS net_0, sum(value_1) FILTER (WHERE status) AS net_1,
        sum(value_2) FILTER (WHERE status) AS net_2, sum(value_3) FILTER (WHERE status) AS net_3
    FROM transactions_files
    WHERE contract_address IS NOT NULL AND in_bucket(contract_address)
    GROUP BY contract_address
    UNION ALL BY NAME
    SELECT from_address AS address, min(block_number) AS first_seen,
        max(block_number) AS last_seen, count(*) AS transfers, count(*) AS transfers_sent
    FROM token_transfers_files
    WHERE in_bucket(from_address)
    GROUP BY from_address
    UNION ALL BY NAME
    SELECT to_address AS address, min(block_number) AS first_seen,
        max(block_number) AS last_seen,
        count(*) FILTER (WHERE to_address <> from_address) AS transfers,
        count(*) AS transfers_received
    FROM token_transfers_files
    WHERE in_bucket(to_address)
    GROUP BY to_address
    UNION ALL BY NAME
    SELECT maker AS address, min(block_number) AS first_seen, max(block_number) AS last_seen,
        count(*) AS trades
    FROM dex_trades_files
    WHERE in_bucket(maker)
    GROUP BY maker
    UNION ALL BY NAME
    SELECT from_address AS address, min(block_number) AS first_seen,
        max(block_number) AS last_seen, count(*) AS internal, count(*) AS internal_sent,
        -sum(value_0) AS net_0, -sum(value_1) AS net_1, -sum(value_2) AS net_2,
        -sum(value_3) AS net_3
    FROM internal_transfers_files
    WHERE in_bucket(from_address)
    GROUP BY from_address
    UNION ALL BY NAME
    SELECT to_address AS address, min(block_number) AS first_seen,
        max(block_number) AS last_seen,
        count(*) FILTER (WHERE to_address <> from_address) AS internal,
        count(*) AS internal_received,
        sum(value_0) AS net_0, sum(value_1) AS net_1, sum(value_2) AS net_2, sum(value_3) AS net_3
    FROM internal_transfers_files
    WHERE in_bucket(to_address)
    GROUP BY to_address
    UNION ALL BY NAME
    SELECT miner AS address, min(number) AS first_seen, max(number) AS last_seen,
        count(*) FILTER (WHERE transaction_count > 0) AS produced,
        sum(producer_fees_0) AS net_0, sum(producer_fees_1) AS net_1,
        sum(producer_fees_2) AS net_2, sum(producer_fees_3) AS net_3
    FROM blocks_files
    WHERE in_bucket(miner)
    GROUP BY miner
    UNION ALL BY NAME
    SELECT address, min(block_number) AS first_seen, max(block_number) AS last_seen,
        count(*) AS withdrawals, sum(amount_wei_0) AS net_0, sum(amount_wei_1) AS net_1,
        sum(amount_wei_2) AS net_2, sum(amount_wei_3) AS net_3
    FROM withdrawals_files
    WHERE in_bucket(address)
    GROUP BY address
    UNION ALL BY NAME
    SELECT address, min(block_number) AS first_seen, max(block_number) AS last_seen
    FROM log_emitters_files
    WHERE in_bucket(address)
    GROUP BY address
    UNION ALL BY NAME
    SELECT address, min(block_number) AS first_seen, max(block_number) AS last_seen,
        count(*) AS logs
    FROM logs_files
    WHERE in_bucket(address)
    GROUP BY address
    UNION ALL BY NAME
    SELECT owner AS address, count(*) AS items
    FROM token_items
    WHERE owner IS NOT NULL AND in_bucket(owner)
    GROUP BY owner
    UNION ALL BY NAME
    SELECT holder AS address, count(*) AS items
    FROM item_balances
    WHERE NOT starts_with(balance, '-') AND in_bucket(holder)
    GROUP BY holder
), summed AS (
    SELECT address, min(first_seen) AS first_seen, max(last_seen) AS last_seen,
        coalesce(sum(transactions), 0)::BIGINT AS transaction_count,
        coalesce(sum(sent), 0)::BIGINT AS sent_count,
        coalesce(sum(received), 0)::BIGINT AS received_count,
        coalesce(sum(transfers), 0)::BIGINT AS transfer_count,
        coalesce(sum(transfers_sent), 0)::BIGINT AS transfer_sent_count,
        coalesce(sum(transfers_received), 0)::BIGINT AS transfer_received_count,
        coalesce(sum(trades), 0)::BIGINT AS trade_count,
        coalesce(sum(internal), 0)::BIGINT AS internal_count,
        coalesce(sum(internal_sent), 0)::BIGINT AS internal_sent_count,
        coalesce(sum(internal_received), 0)::BIGINT AS internal_received_count,
        nullif(sum(items), 0)::BIGINT AS item_count, nullif(sum(logs), 0)::BIGINT AS log_count,
        nullif(sum(coin_sent), 0)::BIGINT AS coin_sent_count,
        nullif(sum(coin_received), 0)::BIGINT AS coin_received_count,
        nullif(sum(withdrawals), 0)::BIGINT AS withdrawal_count,
        nullif(sum(produced), 0)::BIGINT AS produced_count,
        coalesce(sum(net_0), 0) AS net_0, coalesce(sum(net_1), 0) AS net_1,
        coalesce(sum(net_2), 0) AS net_2, coalesce(sum(net_3), 0) AS net_3
    FROM seen
    GROUP BY address
)
SELECT summed.* EXCLUDE (net_0, net_1, net_2, net_3),
    nullif(sum_text(net_0, net_1, net_2, net_3), '0') AS net_wei
FROM summed;
