-- The prices of tokens that have a pool with one of the tokens given, whose own prices are given. Of each token
-- the `pools_each` deepest pools of exchanges with a name are compared, and as many of others. Of those with
-- trades in the `max_age` before the newest block, the price is that of the deepest one with a name, or else of
-- the deepest other one; there is none where a deeper pool, whenever traded, has one that differs by more than
-- `factor`. A pool's price is the median of the closing prices of its newest `hours` with trades, of a `max_age` at
-- most. Pools are found among the largest holders of the `max_bases` given tokens that most hold.
-- params: tokens bytea[], prices numeric[], min_depth numeric, hours integer, max_age interval, factor numeric,
--   pools_each integer, max_bases integer, max_holders integer, limit integer
-- literals: none
-- returns: one row: index version, JSON text of [{token, pool, price, depth, at, unused}], where price is of one
--   token and depth the worth of what the pool holds of the other token, as texts, at is the hour of the newest
--   trade with a price, and unused why this price is not to be used: disagreement, age or null
-- index: tokens_pkey, token_holders_by_balance, token_holders_pkey, pools_pkey, dexes_pkey,
--   pool_candles_pkey, blocks_pkey
WITH bases AS MATERIALIZED (
    SELECT k.address, g.price, token_unit(k) AS unit,
        g.price * ('1e-' || k.decimals)::numeric AS unit_price
    FROM unnest(%(tokens)s, %(prices)s) AS g (address, price)
    JOIN tokens k ON k.address = g.address
    WHERE k.type = 'BEP20' AND g.price > 0
    ORDER BY counted_holders(k) DESC, k.address
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
), numbered AS MATERIALIZED (
    SELECT h.address, h.base, h.price, h.token, h.depth, h.token0, h.token1, x.name LIKE '%%-0x%%' AS is_unnamed,
        row_number() OVER (PARTITION BY h.token, x.name LIKE '%%-0x%%' ORDER BY h.depth DESC, h.address) AS place
    FROM held h
    JOIN dexes x ON x.dex_id = h.dex_id
    JOIN token_holders o ON o.holder = h.address AND o.token_address = h.token AND o.balance > 0
    WHERE NOT (h.token = ANY (%(tokens)s)) AND x.name NOT LIKE '%%-unconfirmed'
), page AS MATERIALIZED (
    SELECT n.token, max(n.depth) AS depth
    FROM numbered n
    JOIN tokens k ON k.address = n.token AND k.type = 'BEP20'
    GROUP BY n.token
    ORDER BY max(n.depth) DESC, n.token
    LIMIT %(limit)s
), oldest AS MATERIALIZED (
    SELECT b.timestamp - %(max_age)s::interval AS oldest FROM blocks b ORDER BY b.number DESC LIMIT 1
), compared AS MATERIALIZED (
    SELECT n.address, n.token, n.depth, n.is_unnamed, trim_scale(median.price * n.price) AS price, median.at,
        median.at + interval '1 hour' < (SELECT t.oldest FROM oldest t) AS is_old
    FROM page
    JOIN numbered n ON n.token = page.token AND n.place <= %(pools_each)s
    LEFT JOIN tokens k0 ON k0.address = n.token0
    LEFT JOIN tokens k1 ON k1.address = n.token1
    CROSS JOIN LATERAL (
        SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY c.price) AS price, max(c.hour) AS at
        FROM (
            SELECT h.hour, max(h.hour) OVER () AS newest_hour, h.price
            FROM (
                SELECT a.hour,
                    CASE WHEN n.base = n.token1
                        THEN pool_price(a.close_amount0, a.close_amount1, token_unit(k0), token_unit(k1))
                        ELSE pool_price(a.close_amount1, a.close_amount0, token_unit(k1), token_unit(k0))
                        END AS price
                FROM pool_candles a
                WHERE a.pool_address = n.address
                ORDER BY a.hour DESC
                LIMIT %(hours)s
            ) AS h
            WHERE h.price > 0
        ) AS c
        WHERE c.hour > c.newest_hour - %(max_age)s::interval
    ) AS median
    WHERE median.price > 0
), chosen AS (
    SELECT DISTINCT ON (c.token) c.address, c.token, c.depth, c.at, c.price, c.is_old
    FROM compared c
    ORDER BY c.token, c.is_old, c.is_unnamed, c.depth DESC, c.address
)
SELECT index_version(),
    json_list(string_agg(
        json_build_object('token', hex(c.token), 'pool', hex(c.address), 'depth', c.depth::text,
            'price', c.price::text, 'at', iso(c.at), 'unused',
            CASE WHEN EXISTS (
                    SELECT
                    FROM compared o
                    WHERE o.token = c.token AND o.depth > c.depth
                        AND greatest(o.price, c.price) > %(factor)s * least(o.price, c.price))
                    THEN 'disagreement'
                WHEN c.is_old THEN 'age' END)::text,
        ',' ORDER BY c.depth DESC, c.token))
FROM chosen c;
