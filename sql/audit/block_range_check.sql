-- Finds rows of a range of blocks that contradict each other or their blocks, in one statement and so in
-- one snapshot. Of the block before the range it reads only its row counts. It reads no derived tables,
-- which hold sums over all blocks. Scalar subqueries stand in the place of EXISTS, for which the planner
-- would read by block or whole tables.
-- params: block_from bigint, block_to bigint
-- returns: the kind of error, the number of such rows, the place of one of them
-- index: blocks_pkey, transactions_pkey, token_transfers_pkey, dex_trades_pkey, internal_transfers_pkey,
--   logs_pkey, withdrawals_pkey, tokens_pkey, pools_pkey, log_emitters_pkey
WITH span AS MATERIALIZED (
    SELECT b.*, lag(b) OVER numbered AS previous
    FROM blocks b
    WHERE b.number BETWEEN %(block_from)s - 1 AND %(block_to)s
    WINDOW numbered AS (ORDER BY b.number)
), counted AS (
    SELECT b.*, t.*, x.*, d.*, i.*, l.*, w.*
    FROM span b
    CROSS JOIN LATERAL (
        SELECT count(*) AS transactions, coalesce(sum(t.gas_price), 0) AS gas_prices,
            coalesce(bool_and(t.block_number = b.number
                AND t.transaction_index = t.ordinal - b.transactions_before), true)
                AS transactions_follow
        FROM transactions t
        WHERE t.ordinal BETWEEN b.transactions_before
            AND b.transactions_before + b.transaction_count - 1
    ) AS t
    CROSS JOIN LATERAL (
        SELECT count(*) AS transfers, coalesce(bool_and(placed.follows), true) AS transfers_follow
        FROM (
            SELECT x.block_number = b.number AND x.transaction_index < b.transaction_count
                AND coalesce((SELECT min(l.block_number) FROM tokens k CROSS JOIN token_lives(k) AS l
                    WHERE k.address = x.token_address) <= b.number, false)
                AND coalesce((x.log_index, coalesce(x.batch_index, 0)) > (lag(x.log_index) OVER in_order,
                    lag(coalesce(x.batch_index, 0)) OVER in_order), true) AS follows
            FROM token_transfers x
            WHERE x.ordinal BETWEEN b.token_transfers_before
                AND b.token_transfers_before + b.token_transfer_count - 1
            WINDOW in_order AS (ORDER BY x.ordinal)
        ) AS placed
    ) AS x
    CROSS JOIN LATERAL (
        SELECT count(*) AS trades, coalesce(bool_and(placed.follows), true) AS trades_follow
        FROM (
            SELECT d.block_number = b.number
                AND d.transaction_index < b.transaction_count
                AND coalesce((SELECT t.from_address FROM transactions t
                    WHERE t.ordinal = b.transactions_before + d.transaction_index) = d.maker, false)
                AND coalesce((SELECT p.block_number FROM pools p
                    WHERE p.address = d.pool_address) <= b.number, false)
                AND coalesce(d.log_index > lag(d.log_index) OVER in_order, true) AS follows
            FROM dex_trades d
            WHERE d.ordinal BETWEEN b.dex_trades_before
                AND b.dex_trades_before + b.dex_trade_count - 1
            WINDOW in_order AS (ORDER BY d.ordinal)
        ) AS placed
    ) AS d
    CROSS JOIN LATERAL (
        SELECT count(*) AS internal_transfers,
            coalesce(bool_and(placed.follows), true) AS internal_transfers_follow
        FROM (
            SELECT i.block_number = b.number
                AND i.transaction_index < b.transaction_count
                AND coalesce((SELECT t.status AND (b.traced IS TRUE OR b.coin_logs OR t.traced)
                    FROM transactions t
                    WHERE t.ordinal = b.transactions_before + i.transaction_index), false)
                AND coalesce((i.transaction_index, i.transfer_index)
                    > (lag(i.transaction_index) OVER in_order, lag(i.transfer_index) OVER in_order),
                    true) AS follows
            FROM internal_transfers i
            WHERE i.ordinal BETWEEN b.internal_transfers_before
                AND b.internal_transfers_before + b.internal_transfer_count - 1
            WINDOW in_order AS (ORDER BY i.ordinal)
        ) AS placed
    ) AS i
    CROSS JOIN LATERAL (
        SELECT count(*) AS logs, coalesce(bool_and(placed.follows), true) AS logs_follow
        FROM (
            SELECT l.block_number = b.number AND l.transaction_index < b.transaction_count
                AND (SELECT e.address FROM log_emitters e
                    WHERE e.address = l.address AND e.block_number = b.number) IS NOT NULL
                AND coalesce(l.log_index > lag(l.log_index) OVER in_order, true) AS follows
            FROM logs l
            WHERE l.ordinal BETWEEN b.logs_before AND b.logs_before + b.log_count - 1
            WINDOW in_order AS (ORDER BY l.ordinal)
        ) AS placed
    ) AS l
    CROSS JOIN LATERAL (
        SELECT count(*) AS withdrawals FROM withdrawals w WHERE w.block_number = b.number
    ) AS w
    WHERE b.number >= %(block_from)s
)
SELECT what, count(*), 'block ' || min(number)
FROM (
    SELECT 'blocks are missing' AS what, %(block_from)s::bigint AS number
    WHERE (SELECT count(*) FROM counted) <> %(block_to)s - %(block_from)s + 1
    UNION ALL
    SELECT 'a block does not follow the one before it', number
    FROM span
    WHERE number >= %(block_from)s AND (previous).number IS NOT NULL
        AND ((previous).number <> number - 1 OR (previous).hash <> parent_hash)
    UNION ALL
    SELECT 'a block miscounts the rows before it', number
    FROM span
    WHERE number >= %(block_from)s AND (previous).number IS NOT NULL AND (transactions_before, token_transfers_before, dex_trades_before,
            internal_transfers_before, logs_before)
        <> ((previous).transactions_before + (previous).transaction_count,
            (previous).token_transfers_before + (previous).token_transfer_count,
            (previous).dex_trades_before + (previous).dex_trade_count,
            (previous).internal_transfers_before + (previous).internal_transfer_count,
            (previous).logs_before + (previous).log_count)
    UNION ALL
    SELECT c.what, number
    FROM counted
    CROSS JOIN LATERAL (VALUES
        ('transactions are missing or misplaced', transactions = transaction_count AND transactions_follow),
        ('gas prices do not add up', gas_prices = gas_price_sum),
        ('token transfers are missing or misplaced', transfers = token_transfer_count AND transfers_follow),
        ('trades are missing or misplaced', trades = dex_trade_count AND trades_follow),
        ('internal transfers are missing or misplaced',
            internal_transfers = internal_transfer_count AND internal_transfers_follow),
        ('logs are missing or misplaced', logs = log_count AND logs_follow),
        ('withdrawals are missing or too many', withdrawals = coalesce(withdrawal_count, 0))
    ) AS c (what, is_right)
    WHERE NOT c.is_right
) AS wrong
GROUP BY what
ORDER BY what;
