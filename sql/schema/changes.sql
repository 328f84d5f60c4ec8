-- What blocks change in derived tables.

-- What pool_candles has of trades first..last; of some candles alone, by pool and hour, where these are
-- given. Prices of a candle are compared as whole numbers: of two that differ, amount1 / amount0
-- differ by 1 / scale at least, which is the square of the largest amount0. OFFSET 0 has prices computed
-- once, not for each of the uses.
CREATE OR REPLACE FUNCTION counted_candles(
    first bigint, last bigint, some_pools bytea[], some_hours timestamptz[])
RETURNS TABLE (pool_address bytea, hour timestamptz, trade_count bigint, first_ordinal bigint,
    volume0 numeric, volume1 numeric, open_amount0 numeric, open_amount1 numeric,
    high_amount0 numeric, high_amount1 numeric, low_amount0 numeric, low_amount1 numeric,
    close_amount0 numeric, close_amount1 numeric)
LANGUAGE sql STABLE AS $$
    SELECT c.pool_address, c.hour, count(*), min(c.ordinal), sum(c.amount0), sum(c.amount1),
        max(c.amount0) FILTER (WHERE c.ordinal = c.opens), max(c.amount1) FILTER (WHERE c.ordinal = c.opens),
        max(c.amount0) FILTER (WHERE c.ordinal = c.highs), max(c.amount1) FILTER (WHERE c.ordinal = c.highs),
        max(c.amount0) FILTER (WHERE c.ordinal = c.lows), max(c.amount1) FILTER (WHERE c.ordinal = c.lows),
        max(c.amount0) FILTER (WHERE c.ordinal = c.closes), max(c.amount1) FILTER (WHERE c.ordinal = c.closes)
    FROM (
        SELECT e.*, min(e.ordinal) FILTER (WHERE e.price = e.highest) OVER candle AS highs,
            min(e.ordinal) FILTER (WHERE e.price = e.lowest) OVER candle AS lows
        FROM (
            SELECT r.*, max(r.price) OVER candle AS highest, min(r.price) OVER candle AS lowest,
                min(r.ordinal) FILTER (WHERE r.price IS NOT NULL) OVER candle AS opens,
                max(r.ordinal) FILTER (WHERE r.price IS NOT NULL) OVER candle AS closes
            FROM (
                SELECT t.*, CASE WHEN t.amount0 > 0 AND t.amount1 > 0
                    THEN div(t.amount1 * t.scale, t.amount0) END AS price
                FROM (
                    SELECT a.*, (max(a.amount0) OVER candle) * (max(a.amount0) OVER candle) AS scale
                    FROM (
                        SELECT d.ordinal, d.pool_address,
                            date_trunc('hour', b.timestamp, 'UTC') AS hour,
                            CASE WHEN d.token_in = p.token0 THEN d.amount_in
                                ELSE d.amount_out END AS amount0,
                            CASE WHEN d.token_in = p.token0 THEN d.amount_out
                                ELSE d.amount_in END AS amount1
                        FROM dex_trades d
                        JOIN pools p ON p.address = d.pool_address
                        JOIN blocks b ON b.number = d.block_number
                        WHERE d.ordinal BETWEEN first AND last
                            AND (some_pools IS NULL OR d.pool_address = ANY(some_pools))
                    ) AS a
                    WHERE some_pools IS NULL
                        OR (a.pool_address, a.hour) IN (SELECT * FROM unnest(some_pools, some_hours))
                    WINDOW candle AS (PARTITION BY a.pool_address, a.hour)
                ) AS t
                OFFSET 0
            ) AS r
            WINDOW candle AS (PARTITION BY r.pool_address, r.hour)
        ) AS e
        WINDOW candle AS (PARTITION BY e.pool_address, e.hour)
    ) AS c
    GROUP BY c.pool_address, c.hour
$$;

-- The day of a moment, in UTC.
CREATE OR REPLACE FUNCTION day_of(value timestamptz) RETURNS date LANGUAGE sql STABLE
RETURN (value AT TIME ZONE 'UTC')::date;

-- Every address that is seen in a range of blocks, once: the addresses of indexer/addresses_derive.
CREATE OR REPLACE FUNCTION addresses_seen(block_from bigint, block_to bigint)
RETURNS TABLE (address bytea) LANGUAGE sql STABLE AS $$
    SELECT t.from_address
    FROM transaction_ordinals(block_from, block_to) o
    JOIN transactions t ON t.ordinal BETWEEN o.first AND o.last
    UNION
    SELECT t.to_address
    FROM transaction_ordinals(block_from, block_to) o
    JOIN transactions t ON t.ordinal BETWEEN o.first AND o.last
    WHERE t.to_address IS NOT NULL
    UNION
    SELECT t.contract_address
    FROM transaction_ordinals(block_from, block_to) o
    JOIN transactions t ON t.ordinal BETWEEN o.first AND o.last
    WHERE t.contract_address IS NOT NULL
    UNION
    SELECT x.from_address
    FROM token_transfer_ordinals(block_from, block_to) o
    JOIN token_transfers x ON x.ordinal BETWEEN o.first AND o.last
    UNION
    SELECT x.to_address
    FROM token_transfer_ordinals(block_from, block_to) o
    JOIN token_transfers x ON x.ordinal BETWEEN o.first AND o.last
    UNION
    SELECT d.maker
    FROM dex_trade_ordinals(block_from, block_to) o
    JOIN dex_trades d ON d.ordinal BETWEEN o.first AND o.last
    UNION
    SELECT i.from_address
    FROM internal_transfer_ordinals(block_from, block_to) o
    JOIN internal_transfers i ON i.ordinal BETWEEN o.first AND o.last
    UNION
    SELECT i.to_address
    FROM internal_transfer_ordinals(block_from, block_to) o
    JOIN internal_transfers i ON i.ordinal BETWEEN o.first AND o.last
    UNION
    SELECT b.miner FROM blocks b WHERE b.number BETWEEN block_from AND block_to
    UNION
    SELECT w.address FROM withdrawals w WHERE w.block_number BETWEEN block_from AND block_to
    UNION
    SELECT e.address FROM log_emitters e WHERE e.block_number BETWEEN block_from AND block_to
$$;

-- What daily_stats counts of a range of blocks, but for addresses.
CREATE OR REPLACE FUNCTION block_totals(block_from bigint, block_to bigint)
RETURNS TABLE (transaction_count bigint, failed_transaction_count bigint,
    created_contract_count bigint, token_transfer_count bigint, dex_trade_count bigint,
    gas_used numeric, fees_wei numeric, burnt_wei numeric)
LANGUAGE sql STABLE AS $$
    SELECT b.transactions, t.failed, t.created + i.created, b.transfers, b.trades, b.gas_used,
        t.gas_fees + t.blob_fees, b.burnt + t.blob_fees
    FROM (
        SELECT sum(transaction_count) AS transactions, sum(token_transfer_count) AS transfers,
            sum(dex_trade_count) AS trades, sum(gas_used) AS gas_used,
            coalesce(sum(base_fee_per_gas * gas_used), 0) AS burnt
        FROM blocks
        WHERE number BETWEEN block_from AND block_to
    ) AS b, (
        SELECT count(*) FILTER (WHERE NOT t.status) AS failed,
            count(*) FILTER (WHERE t.status AND t.contract_address IS NOT NULL) AS created,
            coalesce(sum(t.gas_price * t.gas_used), 0) AS gas_fees,
            coalesce(sum(transaction_fee(t) - t.gas_price * t.gas_used)
                FILTER (WHERE t.blob_gas_price IS NOT NULL), 0) AS blob_fees
        FROM transaction_ordinals(block_from, block_to) o
        JOIN transactions t ON t.ordinal BETWEEN o.first AND o.last
    ) AS t, (
        SELECT count(*) AS created
        FROM internal_transfer_ordinals(block_from, block_to) o
        JOIN internal_transfers i ON i.ordinal BETWEEN o.first AND o.last
        WHERE internal_transfer_type(i.type) IN ('create', 'create2')
    ) AS i
$$;

-- Which row of daily_stats an indexed block belongs to.
CREATE OR REPLACE FUNCTION day_of_block(block bigint) RETURNS date LANGUAGE sql STABLE
RETURN (SELECT s.day
    FROM daily_stats s
    WHERE s.first_block <= block
    ORDER BY s.first_block DESC
    LIMIT 1);

-- How many blocks lack traces; null where some do and none was ever traced, so that nothing is known
-- of internal transfers.
CREATE OR REPLACE FUNCTION untraced_blocks() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN max(b.number) IS NULL THEN 0
        WHEN max(b.untraced_before + (b.traced IS FALSE)::integer) = 0
            OR max(b.traced_before + (b.traced IS TRUE)::integer) > 0
            THEN max(b.untraced_before + (b.traced IS FALSE)::integer)
        END
    FROM blocks b
    WHERE b.number = (SELECT max(newest.number) FROM blocks newest)
$$;

-- The newest block after which a stored balance may have changed without anything indexed: an address
-- whose balance is stored is not in any later block, except inside transactions that are not traced.
CREATE OR REPLACE FUNCTION newest_untraced_block() RETURNS bigint LANGUAGE sql STABLE
RETURN coalesce((SELECT max(b.number) FROM blocks b WHERE b.traced IS FALSE), -1);
