-- Notes where every checkpoint_every()th entry but the first stands, of lists that grew past one in
-- these blocks.
-- params: lists text[], keys bytea[], entries bigint[], block_from bigint, block_to bigint
-- returns: nothing
-- index: the one each list is named for, list_checkpoints_pkey
INSERT INTO list_checkpoints (list, key, ordinal, block_number, position, batch_index)
SELECT list, key, ordinal, block_number, position_, batch_index
FROM (
    SELECT grown.list, grown.key, entry.block_number, entry.position_, entry.batch_index,
        grown.entries - 1 + row_number() OVER (
            PARTITION BY grown.list, grown.key
            ORDER BY entry.block_number, entry.position_, entry.batch_index) AS ordinal
    FROM unnest(%(lists)s::text[], %(keys)s::bytea[], %(entries)s::bigint[])
        AS grown (list, key, entries)
    CROSS JOIN LATERAL (
        SELECT t.block_number, t.transaction_index AS position_, 0 AS batch_index
        FROM transactions t
        WHERE grown.list IN ('transactions_by_address', 'transactions_by_from')
            AND t.from_address = grown.key
            AND t.block_number BETWEEN %(block_from)s AND %(block_to)s
        UNION ALL
        SELECT t.block_number, t.transaction_index, 0
        FROM transactions t
        WHERE grown.list IN ('transactions_by_address', 'transactions_by_to')
            AND t.to_address = grown.key AND t.to_address <> t.from_address
            AND t.block_number BETWEEN %(block_from)s AND %(block_to)s
        UNION ALL
        SELECT t.block_number, t.transaction_index, 0
        FROM transactions t
        WHERE grown.list = 'transactions_by_to'
            AND t.to_address = grown.key AND t.to_address IS NOT DISTINCT FROM t.from_address
            AND t.block_number BETWEEN %(block_from)s AND %(block_to)s
        UNION ALL
        SELECT t.block_number, t.transaction_index, 0
        FROM transactions t
        WHERE grown.list = 'transactions_by_address'
            AND t.contract_address = grown.key AND t.contract_address <> t.from_address
            AND t.block_number BETWEEN %(block_from)s AND %(block_to)s
        UNION ALL
        SELECT x.block_number, x.log_index, x.batch_index
        FROM token_transfers x
        WHERE grown.list IN ('token_transfers_by_address', 'token_transfers_by_from')
            AND x.from_address = grown.key
            AND x.block_number BETWEEN %(block_from)s AND %(block_to)s
        UNION ALL
        SELECT x.block_number, x.log_index, x.batch_index
        FROM token_transfers x
        WHERE grown.list IN ('token_transfers_by_address', 'token_transfers_by_to')
            AND x.to_address = grown.key AND x.to_address <> x.from_address
            AND x.block_number BETWEEN %(block_from)s AND %(block_to)s
        UNION ALL
        SELECT x.block_number, x.log_index, x.batch_index
        FROM token_transfers x
        WHERE grown.list = 'token_transfers_by_to'
            AND x.to_address = grown.key AND x.to_address IS NOT DISTINCT FROM x.from_address
            AND x.block_number BETWEEN %(block_from)s AND %(block_to)s
        UNION ALL
        SELECT x.block_number, x.log_index, x.batch_index
        FROM token_transfers x
        WHERE grown.list = 'token_transfers_by_token' AND x.token_address = grown.key
            AND x.block_number BETWEEN %(block_from)s AND %(block_to)s
        UNION ALL
        SELECT d.block_number, d.log_index, 0
        FROM dex_trades d
        WHERE grown.list = 'dex_trades_by_maker' AND d.maker = grown.key
            AND d.block_number BETWEEN %(block_from)s AND %(block_to)s
        UNION ALL
        SELECT d.block_number, d.log_index, 0
        FROM dex_trades d
        WHERE grown.list = 'dex_trades_by_dex'
            AND d.dex_id = (SELECT x.dex_id FROM dexes x
                WHERE x.name = convert_from(grown.key, 'UTF8'))
            AND d.block_number BETWEEN %(block_from)s AND %(block_to)s
    ) AS entry
) AS counted
WHERE ordinal %% checkpoint_every() = 0 AND ordinal > 0;
