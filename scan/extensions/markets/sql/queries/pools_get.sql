-- One pool, with its newest trade.
-- params: address bytea
-- literals: none
-- returns: one row: index version, the record as JSON text or null
-- index: pools_pkey, pool_volumes_pkey, dexes_pkey, tokens_pkey, dex_trades_by_pool, transactions_pkey,
--   blocks_pkey
SELECT index_version(), (
    SELECT pool_record(p, v, (SELECT x.name FROM dexes x WHERE x.dex_id = p.dex_id), k0, k1, (
        SELECT json_build_object('transactionHash', hex(t.hash), 'timestamp', iso(b.timestamp))
        FROM (
            SELECT d.block_number, d.transaction_index
            FROM dex_trades d
            WHERE d.pool_address = p.address
            ORDER BY d.ordinal DESC
            LIMIT 1
        ) AS newest
        JOIN blocks b ON b.number = newest.block_number
        JOIN transactions t ON t.ordinal = b.transactions_before + newest.transaction_index))
    FROM pools p
    LEFT JOIN pool_volumes v ON v.pool_address = p.address
    LEFT JOIN tokens k0 ON k0.address = p.token0
    LEFT JOIN tokens k1 ON k1.address = p.token1
    WHERE p.address = %(address)s);
