-- Every checkpoint_every()th entry of every list that has one. Reads expected_addresses,
-- expected_tokens, expected_token_items and expected_log_counts: only lists longer than that are
-- sorted.
-- params: none
-- returns: nothing; makes the temporary table expected_list_checkpoints
-- index: none
CREATE TEMPORARY TABLE expected_list_checkpoints ON COMMIT DROP AS
WITH busy AS MATERIALIZED (
    SELECT address
    FROM expected_addresses
    WHERE greatest(transaction_count, transfer_count, trade_count, internal_count)
        > checkpoint_every()
), busy_tokens AS MATERIALIZED (
    SELECT address, item_count FROM expected_tokens WHERE transfer_count > checkpoint_every()
), busy_items AS MATERIALIZED (
    SELECT token_address, token_id
    FROM expected_token_items
    WHERE transfer_count > checkpoint_every()
), busy_in_logs AS MATERIALIZED (
    SELECT counted, key FROM expected_log_counts WHERE log_count > checkpoint_every()
)
SELECT list, key, place, ordinal, block_number
FROM (
    SELECT list, key, ordinal, block_number,
        row_number() OVER (PARTITION BY list, key ORDER BY ordinal) - 1 AS place
    FROM (
        SELECT 'transactions_by_address' AS list, p.address AS key, t.ordinal, t.block_number
        FROM transactions t
        CROSS JOIN LATERAL (
            SELECT t.from_address AS address
            UNION SELECT t.to_address
            UNION SELECT t.contract_address
        ) AS p
        JOIN busy USING (address)
        UNION ALL
        SELECT 'transactions_by_from', from_address, ordinal, block_number
        FROM transactions
        JOIN busy ON from_address = address
        UNION ALL
        SELECT 'transactions_by_to', to_address, ordinal, block_number
        FROM transactions
        JOIN busy ON to_address = address
        UNION ALL
        SELECT 'coin_by_from', from_address, ordinal, block_number
        FROM transactions
        JOIN busy ON from_address = address
        WHERE status AND value > 0
        UNION ALL
        SELECT 'coin_by_to', address, ordinal, block_number
        FROM transactions
        JOIN busy ON coalesce(to_address, contract_address) = address
        WHERE status AND value > 0 AND address <> from_address
        UNION ALL
        SELECT 'token_transfers_by_address', p.address, x.ordinal, x.block_number
        FROM token_transfers x
        CROSS JOIN LATERAL (SELECT x.from_address AS address UNION SELECT x.to_address) AS p
        JOIN busy USING (address)
        UNION ALL
        SELECT 'token_transfers_by_from', from_address, ordinal, block_number
        FROM token_transfers
        JOIN busy ON from_address = address
        UNION ALL
        SELECT 'token_transfers_by_to', to_address, ordinal, block_number
        FROM token_transfers
        JOIN busy ON to_address = address
        UNION ALL
        SELECT 'token_transfers_by_token', token_address, ordinal, block_number
        FROM token_transfers
        JOIN busy_tokens ON token_address = address
        UNION ALL
        SELECT 'token_transfers_by_item', item_key(token_address, token_id), ordinal, block_number
        FROM token_transfers
        JOIN busy_items USING (token_address, token_id)
        UNION ALL
        SELECT 'token_items_by_token', i.token_address, x.ordinal, x.block_number
        FROM expected_token_items i
        JOIN busy_tokens ON i.token_address = address AND item_count > checkpoint_every()
        JOIN token_transfers x ON x.ordinal = i.first_ordinal
        UNION ALL
        SELECT 'dex_trades_by_maker', maker, ordinal, block_number
        FROM dex_trades
        JOIN busy ON maker = address
        UNION ALL
        SELECT 'internal_transfers_by_address', p.address, i.ordinal, i.block_number
        FROM internal_transfers i
        CROSS JOIN LATERAL (SELECT i.from_address AS address UNION SELECT i.to_address) AS p
        JOIN busy USING (address)
        UNION ALL
        SELECT 'internal_transfers_by_from', from_address, ordinal, block_number
        FROM internal_transfers
        JOIN busy ON from_address = address
        UNION ALL
        SELECT 'internal_transfers_by_to', to_address, ordinal, block_number
        FROM internal_transfers
        JOIN busy ON to_address = address
        UNION ALL
        SELECT 'dex_trades_by_pool', pool_address, ordinal, block_number
        FROM dex_trades
        UNION ALL
        SELECT 'dex_trades_by_dex', convert_to(x.name, 'UTF8'), d.ordinal, d.block_number
        FROM dex_trades d
        JOIN dexes x USING (dex_id)
        UNION ALL
        SELECT 'logs_by_address', l.address, l.ordinal, l.block_number
        FROM logs l
        JOIN busy_in_logs k ON k.counted = 'address' AND k.key = l.address
        UNION ALL
        SELECT 'logs_by_topic0', e.topic0, l.ordinal, l.block_number
        FROM logs l
        JOIN event_topics e USING (topic_id)
        JOIN busy_in_logs k ON k.counted = 'topic0' AND k.key = e.topic0
    ) AS entries
) AS counted
WHERE place > 0 AND place %% checkpoint_every() = 0;
