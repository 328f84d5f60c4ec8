-- In DuckDB: every 128th entry of every list that has one (checkpoint_every() of schema.sql), so only
-- lists that are longer are sorted. Reads addresses, token_counts and token_items.
-- params: every bigint
-- returns: what the table list_checkpoints of DuckDB is made of
-- index: none
WITH busy AS MATERIALIZED (
    SELECT address
    FROM addresses
    WHERE greatest(transaction_count, transfer_count, trade_count, internal_count) > %(every)s
        AND in_bucket(address)
), busy_tokens AS MATERIALIZED (
    SELECT address, item_count
    FROM token_counts
    WHERE transfer_count > %(every)s AND in_bucket(address)
), busy_items AS MATERIALIZED (
    SELECT token_address, token_id_0, token_id_1, token_id_2, token_id_3
    FROM token_items
    WHERE transfer_count > %(every)s AND in_bucket(token_address)
), parties AS (
    SELECT t.from_address AS address, t.ordinal, t.block_number, 'transactions_by_address' AS list
    FROM transactions t
    UNION ALL
    SELECT t.to_address, t.ordinal, t.block_number, 'transactions_by_address'
    FROM transactions t
    WHERE t.to_address <> t.from_address
    UNION ALL
    SELECT t.contract_address, t.ordinal, t.block_number, 'transactions_by_address'
    FROM transactions t
    WHERE t.contract_address <> t.from_address
    UNION ALL
    SELECT t.from_address, t.ordinal, t.block_number, 'transactions_by_from' FROM transactions t
    UNION ALL
    SELECT t.to_address, t.ordinal, t.block_number, 'transactions_by_to'
    FROM transactions t
    WHERE t.to_address IS NOT NULL
    UNION ALL
    SELECT t.from_address, t.ordinal, t.block_number, 'coin_by_from'
    FROM transactions t
    WHERE t.status AND t.value_0 | t.value_1 | t.value_2 | t.value_3 > 0
    UNION ALL
    SELECT coalesce(t.to_address, t.contract_address), t.ordinal, t.block_number, 'coin_by_to'
    FROM transactions t
    WHERE t.status AND t.value_0 | t.value_1 | t.value_2 | t.value_3 > 0
        AND coalesce(t.to_address, t.contract_address) <> t.from_address
    UNION ALL
    SELECT x.from_address, x.ordinal, x.block_number, 'token_transfers_by_address'
    FROM token_transfers x
    UNION ALL
    SELECT x.to_address, x.ordinal, x.block_number, 'token_transfers_by_address'
    FROM token_transfers x
    WHERE x.to_address <> x.from_address
    UNION ALL
    SELECT x.from_address, x.ordinal, x.block_number, 'token_transfers_by_from'
    FROM token_transfers x
    UNION ALL
    SELECT x.to_address, x.ordinal, x.block_number, 'token_transfers_by_to'
    FROM token_transfers x
    UNION ALL
    SELECT d.maker, d.ordinal, d.block_number, 'dex_trades_by_maker' FROM dex_trades d
    UNION ALL
    SELECT i.from_address, i.ordinal, i.block_number, 'internal_transfers_by_address'
    FROM internal_transfers i
    UNION ALL
    SELECT i.to_address, i.ordinal, i.block_number, 'internal_transfers_by_address'
    FROM internal_transfers i
    WHERE i.to_address <> i.from_address
    UNION ALL
    SELECT i.from_address, i.ordinal, i.block_number, 'internal_transfers_by_from'
    FROM internal_transfers i
    UNION ALL
    SELECT i.to_address, i.ordinal, i.block_number, 'internal_transfers_by_to'
    FROM internal_transfers i
), entries AS (
    SELECT p.list, p.address AS key, p.ordinal, p.block_number
    FROM parties p
    SEMI JOIN busy b ON b.address = p.address
    UNION ALL
    SELECT 'token_transfers_by_token', x.token_address, x.ordinal, x.block_number
    FROM token_transfers x
    SEMI JOIN busy_tokens b ON b.address = x.token_address
    UNION ALL
    SELECT 'token_transfers_by_item', x.token_address || encode(
        uint256_text(x.token_id_0, x.token_id_1, x.token_id_2, x.token_id_3)),
        x.ordinal, x.block_number
    FROM token_transfers x
    JOIN busy_items USING (token_address, token_id_0, token_id_1, token_id_2, token_id_3)
    UNION ALL
    SELECT 'token_items_by_token', i.token_address, i.first_ordinal, i.first_block
    FROM token_items i
    JOIN busy_tokens b ON b.address = i.token_address AND b.item_count > %(every)s
    UNION ALL
    SELECT 'dex_trades_by_dex', encode(d.dex), d.ordinal, d.block_number
    FROM dex_trades d
    WHERE in_bucket(d.dex)
    UNION ALL
    SELECT 'dex_trades_by_pool', d.pool_address, d.ordinal, d.block_number
    FROM dex_trades d
    WHERE in_bucket(d.pool_address)
    UNION ALL
    SELECT 'logs_by_address', l.address, l.ordinal, l.block_number
    FROM logs l
    SEMI JOIN (
        SELECT address FROM addresses WHERE log_count > %(every)s AND in_bucket(address)
    ) AS b
        ON b.address = l.address
    UNION ALL
    SELECT 'logs_by_topic0', l.topic0, l.ordinal, l.block_number
    FROM logs l
    WHERE l.topic0 IS NOT NULL AND in_bucket(l.topic0)
)
SELECT list, key, place, ordinal, block_number
FROM (
    SELECT list, key, ordinal, block_number,
        row_number() OVER (PARTITION BY list, key ORDER BY ordinal) - 1 AS place
    FROM entries
) AS counted
WHERE place > 0 AND place %% %(every)s = 0;
