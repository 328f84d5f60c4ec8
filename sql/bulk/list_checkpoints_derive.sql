-- In DuckDB: every 128th entry of every list that has one (checkpoint_every() of schema.sql), so only
-- lists that are longer are sorted. Reads addresses, token_counts and token_items. The lists of addresses
-- are sorted by numbers, which takes a third of what their names and keys take.
-- params: every bigint
-- returns: what the table list_checkpoints of DuckDB is made of
-- index: none
WITH party_lists (number, list) AS (
    VALUES
        (0, 'transactions_by_address'),
        (1, 'transactions_by_from'),
        (2, 'transactions_by_to'),
        (3, 'coin_by_from'),
        (4, 'coin_by_to'),
        (5, 'token_transfers_by_address'),
        (6, 'token_transfers_by_from'),
        (7, 'token_transfers_by_to'),
        (8, 'dex_trades_by_maker'),
        (9, 'internal_transfers_by_address'),
        (10, 'internal_transfers_by_from'),
        (11, 'internal_transfers_by_to')
), busy AS MATERIALIZED (
    SELECT address, row_number() OVER () AS number
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
    SELECT t.from_address AS address, t.ordinal, t.block_number, 0 AS list
    FROM transactions t
    UNION ALL
    SELECT t.to_address, t.ordinal, t.block_number, 0
    FROM transactions t
    WHERE t.to_address <> t.from_address
    UNION ALL
    SELECT t.contract_address, t.ordinal, t.block_number, 0
    FROM transactions t
    WHERE t.contract_address <> t.from_address
    UNION ALL
    SELECT t.from_address, t.ordinal, t.block_number, 1 FROM transactions t
    UNION ALL
    SELECT t.to_address, t.ordinal, t.block_number, 2
    FROM transactions t
    WHERE t.to_address IS NOT NULL
    UNION ALL
    SELECT t.from_address, t.ordinal, t.block_number, 3
    FROM transactions t
    WHERE t.status AND t.value_0 | t.value_1 | t.value_2 | t.value_3 > 0
    UNION ALL
    SELECT coalesce(t.to_address, t.contract_address), t.ordinal, t.block_number, 4
    FROM transactions t
    WHERE t.status AND t.value_0 | t.value_1 | t.value_2 | t.value_3 > 0
        AND coalesce(t.to_address, t.contract_address) <> t.from_address
    UNION ALL
    SELECT x.from_address, x.ordinal, x.block_number, 5
    FROM token_transfers x
    UNION ALL
    SELECT x.to_address, x.ordinal, x.block_number, 5
    FROM token_transfers x
    WHERE x.to_address <> x.from_address
    UNION ALL
    SELECT x.from_address, x.ordinal, x.block_number, 6
    FROM token_transfers x
    UNION ALL
    SELECT x.to_address, x.ordinal, x.block_number, 7
    FROM token_transfers x
    UNION ALL
    SELECT d.maker, d.ordinal, d.block_number, 8 FROM dex_trades d
    UNION ALL
    SELECT i.from_address, i.ordinal, i.block_number, 9
    FROM internal_transfers i
    UNION ALL
    SELECT i.to_address, i.ordinal, i.block_number, 9
    FROM internal_transfers i
    WHERE i.to_address <> i.from_address
    UNION ALL
    SELECT i.from_address, i.ordinal, i.block_number, 10
    FROM internal_transfers i
    UNION ALL
    SELECT i.to_address, i.ordinal, i.block_number, 11
    FROM internal_transfers i
), party_entries AS (
    SELECT b.number * 16 + p.list AS number, p.ordinal, p.block_number
    FROM parties p
    JOIN busy b ON b.address = p.address
), party_places AS (
    SELECT number, ordinal, block_number,
        row_number() OVER (PARTITION BY number ORDER BY ordinal) - 1 AS place
    FROM party_entries
), entries AS (
    SELECT 'token_transfers_by_token' AS list, x.token_address AS key, x.ordinal, x.block_number
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
SELECT l.list, b.address AS key, p.place, p.ordinal, p.block_number
FROM party_places p
JOIN busy b ON b.number = p.number // 16
JOIN party_lists l ON l.number = p.number %% 16
WHERE p.place > 0 AND p.place %% %(every)s = 0
UNION ALL
SELECT list, key, place, ordinal, block_number
FROM (
    SELECT list, key, ordinal, block_number,
        row_number() OVER (PARTITION BY list, key ORDER BY ordinal) - 1 AS place
    FROM entries
) AS counted
WHERE place > 0 AND place %% %(every)s = 0;
