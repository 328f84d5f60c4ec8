-- A pool's tokens, what it holds of them by their transfers, and the newest block.
-- params: address bytea
-- literals: none
-- returns: one row: index version, dex, token0, token1, reserve0, reserve1, decimals of token0 and of token1 (0 where
--   they are not known), number and hash of the newest block; dex is null where there is no such pool
-- index: blocks_pkey, pools_pkey, dexes_pkey, token_holders_pkey, tokens_pkey
SELECT index_version(), pool.dex, pool.token0, pool.token1, pool.reserve0, pool.reserve1, coalesce(pool.decimals0, 0),
    coalesce(pool.decimals1, 0), newest.number, newest.hash
FROM (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS newest
LEFT JOIN (
    SELECT x.name AS dex, p.token0, p.token1,
        CASE WHEN octet_length(p.address) = 20 THEN coalesce(h0.balance, 0) END AS reserve0,
        CASE WHEN octet_length(p.address) = 20 THEN coalesce(h1.balance, 0) END AS reserve1,
        k0.decimals AS decimals0, k1.decimals AS decimals1
    FROM pools p
    JOIN dexes x ON x.dex_id = p.dex_id
    LEFT JOIN token_holders h0 ON h0.holder = p.address AND h0.token_address = p.token0
    LEFT JOIN token_holders h1 ON h1.holder = p.address AND h1.token_address = p.token1
    LEFT JOIN tokens k0 ON k0.address = p.token0
    LEFT JOIN tokens k1 ON k1.address = p.token1
    WHERE p.address = %(address)s
) AS pool ON true;
