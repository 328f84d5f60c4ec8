-- Trades of a pool in a range of blocks by spans of time, oldest first, where there are not too many.
-- Spans without trades are left out. Trades of the range are counted by the list's checkpoints before any
-- is read.
-- params: address bytea, span_s bigint, block_from bigint, block_to bigint, max_trades integer
-- literals: none
-- returns: one row: index version, how many trades the range has, data (JSON text), empty where there
--   are too many
-- index: pools_pkey, tokens_pkey, list_checkpoints_pkey, dex_trades_by_pool, dex_trades_pkey, blocks_pkey
WITH pool AS MATERIALIZED (
    SELECT p.address, p.token0, o.first, o.last,
        token_unit(k0) AS unit0, token_unit(k1) AS unit1,
        entries_before('dex_trades_by_pool', p.address, p.trade_count, o.last + 1)
            - entries_before('dex_trades_by_pool', p.address, p.trade_count, o.first)
            AS trades
    FROM pools p
    LEFT JOIN tokens k0 ON k0.address = p.token0
    LEFT JOIN tokens k1 ON k1.address = p.token1
    CROSS JOIN dex_trade_ordinals(%(block_from)s, %(block_to)s) AS o
    WHERE p.address = %(address)s AND o.first <= o.last
), amounts AS (
    SELECT d.ordinal, d.block_number,
        CASE WHEN d.token_in = p.token0 THEN d.amount_in ELSE d.amount_out END AS amount0,
        CASE WHEN d.token_in = p.token0 THEN d.amount_out ELSE d.amount_in END AS amount1
    FROM pool p
    CROSS JOIN LATERAL (
        SELECT d.ordinal, d.block_number, d.token_in, d.amount_in, d.amount_out
        FROM dex_trades d
        WHERE d.pool_address = p.address AND d.ordinal >= p.first AND d.ordinal <= p.last
        ORDER BY d.ordinal
        LIMIT %(max_trades)s
    ) AS d
    WHERE p.trades <= %(max_trades)s
), priced AS MATERIALIZED (
    SELECT a.ordinal, a.amount0, a.amount1,
        div(extract(epoch FROM b.timestamp), %(span_s)s)::bigint * %(span_s)s AS start_s,
        pool_price(a.amount0, a.amount1, p.unit0, p.unit1) AS price
    FROM amounts a
    JOIN blocks b ON b.number = a.block_number
    CROSS JOIN pool p
), candles AS (
    SELECT start_s, count(*) AS trades, sum(amount0) AS volume0, sum(amount1) AS volume1,
        (array_agg(price ORDER BY ordinal) FILTER (WHERE price IS NOT NULL))[1] AS open,
        max(price) AS high, min(price) AS low,
        (array_agg(price ORDER BY ordinal DESC) FILTER (WHERE price IS NOT NULL))[1] AS close
    FROM priced
    GROUP BY start_s
)
SELECT index_version(), coalesce((SELECT p.trades FROM pool p), 0), json_list((
    SELECT string_agg(candle_record(to_timestamp(c.start_s), c.open, c.high, c.low, c.close,
        c.volume0, c.volume1, c.trades), ',' ORDER BY c.start_s)
    FROM candles c));
