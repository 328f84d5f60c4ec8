-- Every address that the rows show, counted anew and from the first block. Reads
-- expected_token_items and expected_item_balances.
-- params: none
-- returns: nothing; makes the temporary table expected_addresses
-- index: none
CREATE TEMPORARY TABLE expected_addresses ON COMMIT DROP AS
SELECT address, min(block_number) AS first_seen, max(block_number) AS last_seen,
    sum(transactions) AS transaction_count, sum(sent) AS sent_count,
    sum(received) AS received_count, sum(transfers) AS transfer_count,
    sum(transfers_sent) AS transfer_sent_count,
    sum(transfers_received) AS transfer_received_count, sum(trades) AS trade_count,
    nullif(sum(items), 0) AS item_count,
    sum(internal) AS internal_count, sum(internal_sent) AS internal_sent_count,
    sum(internal_received) AS internal_received_count,
    nullif(sum(coin_sent), 0) AS coin_sent_count,
    nullif(sum(coin_received), 0) AS coin_received_count,
    nullif(sum(withdrawals), 0) AS withdrawal_count,
    nullif(sum(produced), 0) AS produced_count,
    nullif(sum(net), 0) AS net_wei
FROM (
    SELECT p.address, t.block_number, 1 AS transactions,
        (p.address = t.from_address)::integer AS sent,
        (p.address IS NOT DISTINCT FROM t.to_address)::integer AS received,
        0 AS transfers, 0 AS transfers_sent, 0 AS transfers_received, 0 AS trades, 0 AS items,
        0 AS internal, 0 AS internal_sent, 0 AS internal_received,
        (t.status AND t.value > 0 AND p.address = t.from_address)::integer AS coin_sent,
        (t.status AND t.value > 0 AND p.address <> t.from_address)::integer AS coin_received,
        0 AS withdrawals, 0 AS produced,
        CASE WHEN t.status
                AND p.address IS NOT DISTINCT FROM coalesce(t.to_address, t.contract_address)
            THEN t.value ELSE 0 END
        - CASE WHEN p.address = t.from_address
            THEN transaction_fee(t) + CASE WHEN t.status THEN t.value ELSE 0 END
            ELSE 0 END AS net
    FROM transactions t
    CROSS JOIN LATERAL (
        SELECT t.from_address AS address
        UNION SELECT t.to_address
        UNION SELECT t.contract_address
    ) AS p
    WHERE p.address IS NOT NULL
    UNION ALL
    SELECT p.address, x.block_number, 0, 0, 0, 1,
        (p.address = x.from_address)::integer, (p.address = x.to_address)::integer, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0
    FROM token_transfers x
    CROSS JOIN LATERAL (SELECT x.from_address AS address UNION SELECT x.to_address) AS p
    UNION ALL
    SELECT maker, block_number, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM dex_trades
    UNION ALL
    SELECT p.address, i.block_number, 0, 0, 0, 0, 0, 0, 0, 0, 1,
        (p.address = i.from_address)::integer, (p.address = i.to_address)::integer, 0, 0, 0, 0,
        CASE WHEN p.address = i.to_address THEN i.value ELSE 0 END
        - CASE WHEN p.address = i.from_address THEN i.value ELSE 0 END
    FROM internal_transfers i
    CROSS JOIN LATERAL (SELECT i.from_address AS address UNION SELECT i.to_address) AS p
    UNION ALL
    SELECT miner, number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        (transaction_count > 0)::integer, producer_fees(b)
    FROM blocks b
    UNION ALL
    SELECT address, block_number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, amount_wei
    FROM withdrawals
    UNION ALL
    SELECT address, block_number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM log_emitters
    UNION ALL
    SELECT owner, NULL, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0
    FROM expected_token_items WHERE owner IS NOT NULL
    UNION ALL
    SELECT holder, NULL, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0
    FROM expected_item_balances WHERE balance > 0
) AS seen
GROUP BY address;
