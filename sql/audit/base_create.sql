-- Rows that contradict each other, which no recomputing mends: an index anew does. Ordinals without a
-- gap, along which each row's place on the chain follows the one before it, also mean that no place is
-- taken twice, and that what blocks_expected() counts in the blocks before is a block's first ordinal.
-- params: none
-- returns: what is wrong, how many such there are, where one of them is
-- index: none
SELECT what, count(*), min(place)
FROM (
    SELECT 'a block does not follow the one before it' AS what, 'block ' || number AS place
    FROM (
        SELECT number, parent_hash, lag(number) OVER numbered AS before,
            lag(hash) OVER numbered AS hash_before
        FROM blocks
        WINDOW numbered AS (ORDER BY number)
    ) AS linked
    WHERE before <> number - 1 OR hash_before <> parent_hash
    UNION ALL
    SELECT 'transactions are missing', 'block ' || block_number
    FROM transactions
    GROUP BY block_number
    HAVING max(transaction_index) <> count(*) - 1
    UNION ALL
    SELECT 'transactions are not numbered in their order', 'ordinal ' || ordinal
    FROM (
        SELECT ordinal, ordinal - lag(ordinal, 1, -1::bigint) OVER numbered AS step,
            (block_number, transaction_index) > (lag(block_number) OVER numbered,
                lag(transaction_index) OVER numbered) AS follows
        FROM transactions
        WINDOW numbered AS (ORDER BY ordinal)
    ) AS placed
    WHERE step <> 1 OR NOT follows
    UNION ALL
    SELECT 'transfers are not numbered in their order', 'ordinal ' || ordinal
    FROM (
        SELECT ordinal, ordinal - lag(ordinal, 1, -1::bigint) OVER numbered AS step,
            (block_number, log_index, coalesce(batch_index, 0)) > (lag(block_number) OVER numbered,
                lag(log_index) OVER numbered, lag(coalesce(batch_index, 0)) OVER numbered)
                AS follows
        FROM token_transfers
        WINDOW numbered AS (ORDER BY ordinal)
    ) AS placed
    WHERE step <> 1 OR NOT follows
    UNION ALL
    SELECT 'trades are not numbered in their order', 'ordinal ' || ordinal
    FROM (
        SELECT ordinal, ordinal - lag(ordinal, 1, -1::bigint) OVER numbered AS step,
            (block_number, log_index) > (lag(block_number) OVER numbered,
                lag(log_index) OVER numbered) AS follows
        FROM dex_trades
        WINDOW numbered AS (ORDER BY ordinal)
    ) AS placed
    WHERE step <> 1 OR NOT follows
    UNION ALL
    SELECT 'internal transfers are not numbered in their order', 'ordinal ' || ordinal
    FROM (
        SELECT ordinal, ordinal - lag(ordinal, 1, -1::bigint) OVER numbered AS step,
            (block_number, transaction_index, transfer_index) > (lag(block_number) OVER numbered,
                lag(transaction_index) OVER numbered, lag(transfer_index) OVER numbered)
                AS follows
        FROM internal_transfers
        WINDOW numbered AS (ORDER BY ordinal)
    ) AS placed
    WHERE step <> 1 OR NOT follows
    UNION ALL
    SELECT 'logs are not numbered in their order', 'ordinal ' || ordinal
    FROM (
        SELECT ordinal, ordinal - lag(ordinal, 1, -1::bigint) OVER numbered AS step,
            (block_number, log_index) > (lag(block_number) OVER numbered,
                lag(log_index) OVER numbered) AS follows
        FROM logs
        WINDOW numbered AS (ORDER BY ordinal)
    ) AS placed
    WHERE step <> 1 OR NOT follows
    UNION ALL
    SELECT 'internal transfers are missing', 'block ' || block_number
    FROM internal_transfers
    GROUP BY block_number, transaction_index
    HAVING max(transfer_index) <> count(*) - 1
    UNION ALL
    SELECT 'an internal transfer has no transaction that succeeded',
        'block ' || i.block_number || ', transaction ' || i.transaction_index
    FROM internal_transfers i
    WHERE NOT EXISTS (SELECT FROM transactions t WHERE t.block_number = i.block_number
        AND t.transaction_index = i.transaction_index AND t.status)
    UNION ALL
    SELECT 'an internal transfer stands in a block without traces', 'block ' || i.block_number
    FROM internal_transfers i
    JOIN blocks b ON b.number = i.block_number
    WHERE b.traced IS NOT TRUE
    UNION ALL
    SELECT 'withdrawals are missing or too many', 'block ' || b.number
    FROM blocks b
    LEFT JOIN withdrawals w ON w.block_number = b.number
    GROUP BY b.number
    HAVING count(w.block_number) <> coalesce(b.withdrawal_count, 0)
    UNION ALL
    SELECT 'a withdrawal stands in no block', 'block ' || w.block_number
    FROM withdrawals w
    WHERE NOT EXISTS (SELECT FROM blocks b WHERE b.number = w.block_number)
    UNION ALL
    SELECT 'a credit stands in no block', 'block ' || c.block_number
    FROM credits c
    WHERE NOT EXISTS (SELECT FROM blocks b
        WHERE b.number = c.block_number AND b.number = c.ordinal >> 20)
    UNION ALL
    SELECT 'a log has no transaction', 'block ' || l.block_number || ', log ' || l.log_index
    FROM logs l
    WHERE NOT EXISTS (SELECT FROM transactions t WHERE t.block_number = l.block_number
        AND t.transaction_index = l.transaction_index)
    UNION ALL
    SELECT 'a log has no emitter', 'block ' || l.block_number || ', log ' || l.log_index
    FROM logs l
    WHERE NOT EXISTS (SELECT FROM log_emitters e WHERE e.address = l.address
        AND e.block_number = l.block_number)
    UNION ALL
    SELECT 'a log has no first topic', 'block ' || l.block_number || ', log ' || l.log_index
    FROM logs l
    WHERE (l.topic_id IS NULL AND l.topics <> '') OR (l.topic_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM event_topics e WHERE e.topic_id = l.topic_id))
    UNION ALL
    SELECT 'a transaction stands in no block', hex(t.hash)
    FROM transactions t
    WHERE NOT EXISTS (SELECT FROM blocks b WHERE b.number = t.block_number)
    UNION ALL
    SELECT 'a transaction stands there twice', hex(hash)
    FROM transactions
    GROUP BY hash
    HAVING count(*) > 1
    UNION ALL
    SELECT 'a transfer has no transaction', 'block ' || x.block_number || ', log ' || x.log_index
    FROM token_transfers x
    WHERE NOT EXISTS (SELECT FROM transactions t WHERE t.block_number = x.block_number
        AND t.transaction_index = x.transaction_index)
    UNION ALL
    SELECT 'a transfer has no token', 'block ' || x.block_number || ', log ' || x.log_index
    FROM token_transfers x
    WHERE NOT EXISTS (SELECT FROM tokens k WHERE k.address = x.token_address
        AND k.block_number <= x.block_number)
    UNION ALL
    SELECT 'a trade has no transaction of its maker',
        'block ' || d.block_number || ', log ' || d.log_index
    FROM dex_trades d
    WHERE NOT EXISTS (SELECT FROM transactions t WHERE t.block_number = d.block_number
        AND t.transaction_index = d.transaction_index AND t.from_address = d.maker)
    UNION ALL
    SELECT 'a trade has no exchange', 'block ' || d.block_number || ', log ' || d.log_index
    FROM dex_trades d
    WHERE NOT EXISTS (SELECT FROM dexes x WHERE x.dex_id = d.dex_id)
    UNION ALL
    SELECT 'a trade has no pool', 'block ' || d.block_number || ', log ' || d.log_index
    FROM dex_trades d
    WHERE NOT EXISTS (SELECT FROM pools p WHERE p.address = d.pool_address
        AND p.block_number <= d.block_number)
    UNION ALL
    SELECT 'a token was first seen in no block', hex(k.address)
    FROM tokens k
    WHERE NOT EXISTS (SELECT FROM blocks b WHERE b.number = k.block_number)
    UNION ALL
    SELECT 'a pool was first seen in no block', hex(p.address)
    FROM pools p
    WHERE NOT EXISTS (SELECT FROM blocks b WHERE b.number = p.block_number)
    UNION ALL
    SELECT 'an emitter stands in no block', hex(e.address)
    FROM log_emitters e
    WHERE NOT EXISTS (SELECT FROM blocks b WHERE b.number = e.block_number)
    UNION ALL
    SELECT 'a contract has no code', hex(c.address)
    FROM contracts c
    WHERE NOT EXISTS (SELECT FROM codes o WHERE o.code_hash = c.code_hash)
    UNION ALL
    SELECT 'a code stands nowhere', hex(o.code_hash)
    FROM codes o
    WHERE NOT EXISTS (SELECT FROM contracts c WHERE c.code_hash = o.code_hash)
) AS wrong
GROUP BY what
ORDER BY what;
