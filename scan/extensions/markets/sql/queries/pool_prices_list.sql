-- The prices of tokens that have a pool with one of the tokens given, whose own prices are given: of each
-- token its pool that holds most, those of exchanges with a name before others. A price is the median of
-- the closing prices of the pool's newest hours with trades. Pools are found among the largest holders of
-- the `max_bases` given tokens that most hold.
-- params: tokens bytea[], prices numeric[], min_depth numeric, hours integer, max_bases integer,
--   max_holders integer, limit integer
-- literals: none
-- returns: one row: index version, JSON text of [{token, pool, price, depth}], where price is of one
--   token and depth the worth of what the pool holds of the other token, as texts
-- index: tokens_pkey, token_holders_by_balance, token_holders_pkey, pools_pkey, dexes_pkey,
--   pool_candles_pkey
WITH bases AS MATERIALIZED (
    SELECT k.address, g.price, token_unit(k) AS unit,
        g.price * ('1e-' || k.decimals)::numeric AS unit_price
    FROM unnest(%(tokens)s, %(prices)s) AS g (address, price)
    JOIN tokens k ON k.address = g.address
    WHERE k.type = 'BEP20' AND g.price > 0
    ORDER BY k.holder_count DESC, k.address
    LIMIT %(max_bases)s
), held AS MATERIALIZED (
    SELECT p.address, p.dex_id, b.address AS base, b.price, p.token0, p.token1,
        CASE WHEN p.token0 = b.address THEN p.token1 ELSE p.token0 END AS token,
        trim_scale(h.balance * b.unit_price) AS depth
    FROM bases b
    CROSS JOIN LATERAL (
        SELECT t.holder, t.balance
        FROM token_holders t
        WHERE t.token_address = b.address AND t.balance >= %(min_depth)s * b.unit / b.price
            AND t.balance > 0
        ORDER BY t.balance DESC, t.holder DESC
        LIMIT %(max_holders)s
    ) AS h
    JOIN pools p ON p.address = h.holder AND b.address IN (p.token0, p.token1)
), deepest AS MATERIALIZED (
    SELECT DISTINCT ON (h.token) h.address, h.base, h.price, h.token, h.depth, h.token0, h.token1
    FROM held h
    JOIN dexes x ON x.dex_id = h.dex_id
    JOIN token_holders o ON o.holder = h.address AND o.token_address = h.token AND o.balance > 0
    WHERE NOT (h.token = ANY (%(tokens)s)) AND x.name NOT LIKE '%%-unconfirmed'
    ORDER BY h.token, x.name LIKE '%%-0x%%', h.depth DESC, h.address
), page AS MATERIALIZED (
    SELECT d.address, d.base, d.price, d.token, d.depth, token_unit(k0) AS unit0,
        token_unit(k1) AS unit1, d.base = d.token1 AS is_in_token1
    FROM deepest d
    JOIN tokens k ON k.address = d.token AND k.type = 'BEP20'
    LEFT JOIN tokens k0 ON k0.address = d.token0
    LEFT JOIN tokens k1 ON k1.address = d.token1
    ORDER BY d.depth DESC, d.token
    LIMIT %(limit)s
)
SELECT index_version(),
    json_list(string_agg(
        json_build_object('token', hex(p.token), 'pool', hex(p.address), 'depth', p.depth::text,
            'price', trim_scale(median.price * p.price)::text)::text,
        ',' ORDER BY p.depth DESC, p.token))
FROM page p
CROSS JOIN LATERAL (
    SELECT (array_agg(c.price ORDER BY c.price))[count(*) / 2 + 1] AS price
    FROM (
        SELECT CASE WHEN p.is_in_token1
            THEN pool_price(n.close_amount0, n.close_amount1, p.unit0, p.unit1)
            ELSE pool_price(n.close_amount1, n.close_amount0, p.unit1, p.unit0) END AS price
        FROM (
            SELECT a.close_amount0, a.close_amount1
            FROM pool_candles a
            WHERE a.pool_address = p.address
            ORDER BY a.hour DESC
            LIMIT %(hours)s
        ) AS n
    ) AS c
    WHERE c.price > 0
) AS median
WHERE median.price > 0;
