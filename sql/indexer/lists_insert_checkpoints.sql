-- Notes where every checkpoint_every()th entry but the first stands, of lists that grew past one in
-- these blocks.
-- No branch looks its key up by a subquery: over partitions PostgreSQL 18.4 computed such a one for keys
-- of other lists too, which are no text, and of a correlated one used the first value for all rows.
-- params: lists text[], keys bytea[], entries bigint[], first_transaction bigint,
--   last_transaction bigint, first_transfer bigint, last_transfer bigint, first_trade bigint,
--   last_trade bigint, first_internal bigint, last_internal bigint, first_log bigint, last_log bigint
-- returns: nothing
-- index: the one each list is named for, list_checkpoints_pkey, dexes_name_key, event_topics_topic0_key
INSERT INTO list_checkpoints (list, key, place, ordinal, block_number)
SELECT list, key, place, ordinal, block_number
FROM (
    SELECT grown.list, grown.key, entry.ordinal, entry.block_number,
        grown.entries - 1 + row_number() OVER (
            PARTITION BY grown.list, grown.key ORDER BY entry.ordinal) AS place
    FROM (
        SELECT g.list, g.key, g.entries, x.dex_id, e.topic_id
        FROM unnest(%(lists)s::text[], %(keys)s::bytea[], %(entries)s::bigint[])
            AS g (list, key, entries)
        LEFT JOIN dexes x
            ON x.name = CASE g.list WHEN 'dex_trades_by_dex' THEN convert_from(g.key, 'UTF8') END
        LEFT JOIN event_topics e ON e.topic0 = CASE g.list WHEN 'logs_by_topic0' THEN g.key END
    ) AS grown
    CROSS JOIN LATERAL (
        SELECT t.ordinal, t.block_number
        FROM transactions t
        WHERE grown.list IN ('transactions_by_address', 'transactions_by_from')
            AND t.from_address = grown.key
            AND t.ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
        UNION ALL
        SELECT t.ordinal, t.block_number
        FROM transactions t
        WHERE grown.list IN ('transactions_by_address', 'transactions_by_to')
            AND t.to_address = grown.key AND t.to_address <> t.from_address
            AND t.ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
        UNION ALL
        SELECT t.ordinal, t.block_number
        FROM transactions t
        WHERE grown.list = 'transactions_by_to'
            AND t.to_address = grown.key AND t.to_address IS NOT DISTINCT FROM t.from_address
            AND t.ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
        UNION ALL
        SELECT t.ordinal, t.block_number
        FROM transactions t
        WHERE grown.list = 'transactions_by_address'
            AND t.contract_address = grown.key AND t.contract_address <> t.from_address
            AND t.ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
        UNION ALL
        SELECT t.ordinal, t.block_number
        FROM transactions t
        WHERE grown.list = 'coin_by_from' AND t.from_address = grown.key
            AND t.status AND t.value > 0
            AND t.ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
        UNION ALL
        SELECT t.ordinal, t.block_number
        FROM transactions t
        WHERE grown.list = 'coin_by_to'
            AND coalesce(t.to_address, t.contract_address) = grown.key
            AND t.status AND t.value > 0
            AND coalesce(t.to_address, t.contract_address) <> t.from_address
            AND t.ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
        UNION ALL
        SELECT x.ordinal, x.block_number
        FROM token_transfers x
        WHERE grown.list IN ('token_transfers_by_address', 'token_transfers_by_from')
            AND x.from_address = grown.key
            AND x.ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
        UNION ALL
        SELECT x.ordinal, x.block_number
        FROM token_transfers x
        WHERE grown.list IN ('token_transfers_by_address', 'token_transfers_by_to')
            AND x.to_address = grown.key AND x.to_address <> x.from_address
            AND x.ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
        UNION ALL
        SELECT x.ordinal, x.block_number
        FROM token_transfers x
        WHERE grown.list = 'token_transfers_by_to'
            AND x.to_address = grown.key AND x.to_address IS NOT DISTINCT FROM x.from_address
            AND x.ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
        UNION ALL
        SELECT x.ordinal, x.block_number
        FROM token_transfers x
        WHERE grown.list = 'token_transfers_by_token' AND x.token_address = grown.key
            AND x.ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
        UNION ALL
        SELECT x.ordinal, x.block_number
        FROM token_transfers x
        WHERE grown.list = 'token_transfers_by_item'
            AND x.token_address = substr(grown.key, 1, 20)
            AND x.token_id = CASE WHEN grown.list = 'token_transfers_by_item'
                THEN convert_from(substr(grown.key, 21), 'UTF8')::numeric END
            AND x.ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
        UNION ALL
        SELECT i.first_ordinal, x.block_number
        FROM token_items i
        JOIN token_transfers x
            ON x.ordinal = i.first_ordinal
            AND x.ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
        WHERE grown.list = 'token_items_by_token' AND i.token_address = grown.key
            AND i.first_ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
        UNION ALL
        SELECT i.ordinal, i.block_number
        FROM internal_transfers i
        WHERE grown.list IN ('internal_transfers_by_address', 'internal_transfers_by_from')
            AND i.from_address = grown.key
            AND i.ordinal BETWEEN %(first_internal)s AND %(last_internal)s
        UNION ALL
        SELECT i.ordinal, i.block_number
        FROM internal_transfers i
        WHERE grown.list IN ('internal_transfers_by_address', 'internal_transfers_by_to')
            AND i.to_address = grown.key AND i.to_address <> i.from_address
            AND i.ordinal BETWEEN %(first_internal)s AND %(last_internal)s
        UNION ALL
        SELECT i.ordinal, i.block_number
        FROM internal_transfers i
        WHERE grown.list = 'internal_transfers_by_to'
            AND i.to_address = grown.key AND i.to_address IS NOT DISTINCT FROM i.from_address
            AND i.ordinal BETWEEN %(first_internal)s AND %(last_internal)s
        UNION ALL
        SELECT d.ordinal, d.block_number
        FROM dex_trades d
        WHERE grown.list = 'dex_trades_by_maker' AND d.maker = grown.key
            AND d.ordinal BETWEEN %(first_trade)s AND %(last_trade)s
        UNION ALL
        SELECT d.ordinal, d.block_number
        FROM dex_trades d
        WHERE grown.list = 'dex_trades_by_pool' AND d.pool_address = grown.key
            AND d.ordinal BETWEEN %(first_trade)s AND %(last_trade)s
        UNION ALL
        SELECT d.ordinal, d.block_number
        FROM dex_trades d
        WHERE grown.list = 'dex_trades_by_dex' AND d.dex_id = grown.dex_id
            AND d.ordinal BETWEEN %(first_trade)s AND %(last_trade)s
        UNION ALL
        SELECT l.ordinal, l.block_number
        FROM logs l
        WHERE grown.list = 'logs_by_address' AND l.address = grown.key
            AND l.ordinal BETWEEN %(first_log)s AND %(last_log)s
        UNION ALL
        SELECT l.ordinal, l.block_number
        FROM logs l
        WHERE grown.list = 'logs_by_topic0' AND l.topic_id = grown.topic_id
            AND l.ordinal BETWEEN %(first_log)s AND %(last_log)s
    ) AS entry
) AS counted
WHERE place %% checkpoint_every() = 0 AND place > 0;
