-- What moved value to or from an address: six lists merged in the chain's order, each read from its own
-- index from where the page before ended. In a transaction the fee comes first, then its own coin, what
-- contracts moved inside it, and tokens; in a block what its producer earned and withdrawals come last.
-- `after` has for coin, fees, internal transfers, tokens and produced blocks the first ordinal (a block's
-- number) that may come next, or descending the one above it; last the block and index of a withdrawal.
-- The total comes from counters of the address, and in a range of blocks from the checkpoints of its
-- lists; by token or counterparty there is none. Where one of those is given it is planned per call.
-- Transfers to oneself, and in a range what a producer earned and withdrawals, have no checkpoints: they
-- are counted, up to `most_counted` of each, and where there are more there is no total.
-- With `has_bounds` each list is read between `lowest` and `highest`, and no partition outside is opened: for
-- these see queries/history_get_bounds.
-- What makes columns of a row stands outside of its list: PostgreSQL prepares what is inside for each partition.
-- params: address bytea, types text[], flow text, token bytea null, counterparty bytea null,
--   block_from bigint, block_to bigint, has_range boolean, after bigint[] null,
--   seen_block bigint null, direction text, limit integer, symbol text, most_counted integer,
--   has_bounds boolean, lowest bigint[], highest bigint[]
-- literals: flow, token, counterparty, has_bounds, has_range, direction, limit
-- returns: one row: index version, data (JSON text), count in data, total (null: not counted), position
--   of the last row (bigint[], null where no rows follow), block_reference of the page's newest row and
--   of seen_block; then balance as text, balance_block, is_contract, number and hash of the newest
--   block, the newest block that stored balances must not be older than; net_wei, the first block, how
--   many blocks lack traces (null: none has any); of the token (null without one): whether its events
--   add up, its type, and the address's balance by them as text (null: none)
-- index: transactions_coin_by_from, transactions_coin_by_to, transactions_to_self,
--   transactions_by_from, internal_transfers_by_from, internal_transfers_by_to,
--   internal_transfers_to_self, token_transfers_by_from, token_transfers_by_to,
--   token_transfers_to_self, token_transfers_by_token, blocks_with_fees, withdrawals_of_address,
--   addresses_pkey, list_checkpoints_pkey, tokens_pkey, token_holders_pkey, transactions_pkey, blocks_pkey
WITH span AS MATERIALIZED (
    SELECT oldest.number AS first_block, newest.number + 1 AS end_block,
        oldest.transactions_before AS first_transaction,
        newest.transactions_before + newest.transaction_count AS end_transaction,
        oldest.internal_transfers_before AS first_internal,
        newest.internal_transfers_before + newest.internal_transfer_count AS end_internal,
        oldest.token_transfers_before AS first_transfer,
        newest.token_transfers_before + newest.token_transfer_count AS end_transfer,
        seen.number + 1 AS seen_block,
        seen.transactions_before + seen.transaction_count AS seen_transaction,
        seen.internal_transfers_before + seen.internal_transfer_count AS seen_internal,
        seen.token_transfers_before + seen.token_transfer_count AS seen_transfer
    FROM blocks oldest
    JOIN blocks newest ON oldest.number <= newest.number
    -- What came after the newest block that the client has seen is not of these pages.
    LEFT JOIN blocks seen ON seen.number = %(seen_block)s AND %(direction)s = 'desc'
    WHERE oldest.number = (SELECT b.number FROM blocks b
            WHERE b.number >= %(block_from)s ORDER BY b.number ASC LIMIT 1)
        AND newest.number = (SELECT b.number FROM blocks b
            WHERE b.number <= %(block_to)s ORDER BY b.number DESC LIMIT 1)
), bounds AS MATERIALIZED (
    SELECT v.list, v.first, v.beyond,
        CASE WHEN %(direction)s = 'asc' THEN greatest(v.first, a[v.number]) ELSE v.first END AS low,
        CASE WHEN %(direction)s = 'asc' THEN v.beyond
            ELSE least(v.beyond, v.seen, a[v.number]) END AS high,
        coalesce(a[7], 0) AS withdrawal
    FROM span s
    CROSS JOIN (SELECT %(after)s::bigint[] AS a) AS given
    CROSS JOIN LATERAL (VALUES
        (1, 'coin', s.first_transaction, s.end_transaction, s.seen_transaction),
        (2, 'fee', s.first_transaction, s.end_transaction, s.seen_transaction),
        (3, 'internal', s.first_internal, s.end_internal, s.seen_internal),
        (4, 'token', s.first_transfer, s.end_transfer, s.seen_transfer),
        (5, 'block', s.first_block, s.end_block, s.seen_block),
        (6, 'withdrawal', s.first_block, s.end_block, s.seen_block)
    ) AS v (number, list, first, beyond, seen)
), entries AS (
    (
        SELECT 'transaction' AS type, 2 AS rank, t.ordinal AS ordinal, t.block_number AS block_number, t.transaction_index AS transaction_index,
            CASE WHEN coalesce(t.to_address, t.contract_address) = t.from_address THEN 'self' ELSE 'out' END AS flow,
            coalesce(t.to_address, t.contract_address) AS counterparty, t.value AS amount, NULL::bytea AS token_address,
            NULL::numeric AS token_id, NULL::bigint AS place, NULL::integer AS batch_index
        FROM (
            SELECT t.ordinal, t.block_number, t.transaction_index, t.from_address, t.to_address,
                t.contract_address, t.value
            FROM transactions t
            WHERE %(flow)s IN ('all', 'out', 'self') AND %(token)s IS NULL
                AND t.from_address = %(address)s AND t.status AND t.value > 0
                AND ((%(flow)s <> 'out' AND coalesce(%(counterparty)s = %(address)s, true))
                    OR coalesce(t.to_address, t.contract_address) <> t.from_address)
                AND (%(flow)s <> 'self' OR (t.to_address = %(address)s
                    AND t.to_address IS NOT DISTINCT FROM t.from_address))
                AND (%(counterparty)s IS NULL OR coalesce(t.to_address, t.contract_address) = %(counterparty)s)
                AND CASE WHEN %(has_bounds)s
                    THEN t.ordinal >= (%(lowest)s)[1] AND t.ordinal < (%(highest)s)[1]
                    ELSE t.ordinal >= (SELECT low FROM bounds WHERE list = 'coin')
                        AND t.ordinal < (SELECT high FROM bounds WHERE list = 'coin') END
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
            LIMIT %(limit)s + 1
        ) AS t
        WHERE 'transaction' = ANY (%(types)s)
    )
    UNION ALL
    (
        SELECT 'transaction', 2, t.ordinal, t.block_number, t.transaction_index, 'in',
            t.from_address, t.value, NULL, NULL, NULL, NULL
        FROM (
            SELECT t.ordinal, t.block_number, t.transaction_index, t.from_address, t.to_address,
                t.contract_address, t.value
            FROM transactions t
            WHERE %(flow)s IN ('all', 'in') AND %(token)s IS NULL
                AND coalesce(t.to_address, t.contract_address) = %(address)s AND t.status AND t.value > 0
                AND coalesce(t.to_address, t.contract_address) <> t.from_address
                AND (%(counterparty)s IS NULL OR t.from_address = %(counterparty)s)
                AND CASE WHEN %(has_bounds)s
                    THEN t.ordinal >= (%(lowest)s)[2] AND t.ordinal < (%(highest)s)[2]
                    ELSE t.ordinal >= (SELECT low FROM bounds WHERE list = 'coin')
                        AND t.ordinal < (SELECT high FROM bounds WHERE list = 'coin') END
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
            LIMIT %(limit)s + 1
        ) AS t
        WHERE 'transaction' = ANY (%(types)s)
    )
    UNION ALL
    (
        SELECT 'fee', 1, t.ordinal, t.block_number, t.transaction_index, 'out', NULL,
            t.fee, NULL, NULL, NULL, NULL
        FROM (
            SELECT t.ordinal, t.block_number, t.transaction_index, transaction_fee(t) AS fee
            FROM transactions t
            WHERE %(flow)s IN ('all', 'out') AND %(token)s IS NULL AND %(counterparty)s IS NULL
                AND t.from_address = %(address)s
                AND CASE WHEN %(has_bounds)s
                    THEN t.ordinal >= (%(lowest)s)[3] AND t.ordinal < (%(highest)s)[3]
                    ELSE t.ordinal >= (SELECT low FROM bounds WHERE list = 'fee')
                        AND t.ordinal < (SELECT high FROM bounds WHERE list = 'fee') END
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
            LIMIT %(limit)s + 1
        ) AS t
        WHERE 'fee' = ANY (%(types)s)
    )
    UNION ALL
    (
        SELECT 'internal_transfer', 3, i.ordinal, i.block_number, i.transaction_index,
            CASE WHEN i.to_address = i.from_address THEN 'self' ELSE 'out' END,
            i.to_address, i.value, NULL, NULL, i.transfer_index, NULL
        FROM (
            SELECT i.ordinal, i.block_number, i.transaction_index, i.from_address, i.to_address,
                i.transfer_index, i.value
            FROM internal_transfers i
            WHERE %(flow)s IN ('all', 'out', 'self') AND %(token)s IS NULL
                AND i.from_address = %(address)s
                AND ((%(flow)s <> 'out' AND coalesce(%(counterparty)s = %(address)s, true))
                    OR i.to_address <> i.from_address)
                AND (%(flow)s <> 'self' OR (i.to_address = %(address)s
                    AND i.to_address IS NOT DISTINCT FROM i.from_address))
                AND (%(counterparty)s IS NULL OR i.to_address = %(counterparty)s)
                AND CASE WHEN %(has_bounds)s
                    THEN i.ordinal >= (%(lowest)s)[4] AND i.ordinal < (%(highest)s)[4]
                    ELSE i.ordinal >= (SELECT low FROM bounds WHERE list = 'internal')
                        AND i.ordinal < (SELECT high FROM bounds WHERE list = 'internal') END
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN i.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN i.ordinal END DESC
            LIMIT %(limit)s + 1
        ) AS i
        WHERE 'internal_transfer' = ANY (%(types)s)
    )
    UNION ALL
    (
        SELECT 'internal_transfer', 3, i.ordinal, i.block_number, i.transaction_index, 'in',
            i.from_address, i.value, NULL, NULL, i.transfer_index, NULL
        FROM (
            SELECT i.ordinal, i.block_number, i.transaction_index, i.from_address, i.to_address,
                i.transfer_index, i.value
            FROM internal_transfers i
            WHERE %(flow)s IN ('all', 'in') AND %(token)s IS NULL
                AND i.to_address = %(address)s
                AND i.to_address <> i.from_address
                AND (%(counterparty)s IS NULL OR i.from_address = %(counterparty)s)
                AND CASE WHEN %(has_bounds)s
                    THEN i.ordinal >= (%(lowest)s)[5] AND i.ordinal < (%(highest)s)[5]
                    ELSE i.ordinal >= (SELECT low FROM bounds WHERE list = 'internal')
                        AND i.ordinal < (SELECT high FROM bounds WHERE list = 'internal') END
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN i.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN i.ordinal END DESC
            LIMIT %(limit)s + 1
        ) AS i
        WHERE 'internal_transfer' = ANY (%(types)s)
    )
    UNION ALL
    (
        SELECT 'token_transfer', 4, x.ordinal, x.block_number, x.transaction_index,
            CASE WHEN x.to_address = x.from_address THEN 'self' ELSE 'out' END,
            x.to_address, x.value, x.token_address,
            x.token_id, x.log_index, x.batch_index
        FROM (
            SELECT x.ordinal, x.block_number, x.transaction_index, x.from_address, x.to_address,
                x.token_address, x.value, x.token_id, x.log_index, x.batch_index
            FROM token_transfers x
            WHERE %(flow)s IN ('all', 'out', 'self')
                AND x.from_address = %(address)s
                AND ((%(flow)s <> 'out' AND coalesce(%(counterparty)s = %(address)s, true))
                    OR x.to_address <> x.from_address)
                AND (%(flow)s <> 'self' OR (x.to_address = %(address)s
                    AND x.to_address IS NOT DISTINCT FROM x.from_address))
                AND (%(counterparty)s IS NULL OR x.to_address = %(counterparty)s)
                AND (%(token)s IS NULL OR x.token_address = %(token)s)
                AND CASE WHEN %(has_bounds)s
                    THEN x.ordinal >= (%(lowest)s)[6] AND x.ordinal < (%(highest)s)[6]
                    ELSE x.ordinal >= (SELECT low FROM bounds WHERE list = 'token')
                        AND x.ordinal < (SELECT high FROM bounds WHERE list = 'token') END
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN x.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN x.ordinal END DESC
            LIMIT %(limit)s + 1
        ) AS x
        WHERE 'token_transfer' = ANY (%(types)s)
    )
    UNION ALL
    (
        SELECT 'token_transfer', 4, x.ordinal, x.block_number, x.transaction_index, 'in',
            x.from_address, x.value, x.token_address,
            x.token_id, x.log_index, x.batch_index
        FROM (
            SELECT x.ordinal, x.block_number, x.transaction_index, x.from_address, x.to_address,
                x.token_address, x.value, x.token_id, x.log_index, x.batch_index
            FROM token_transfers x
            WHERE %(flow)s IN ('all', 'in')
                AND x.to_address = %(address)s
                AND x.to_address <> x.from_address
                AND (%(counterparty)s IS NULL OR x.from_address = %(counterparty)s)
                AND (%(token)s IS NULL OR x.token_address = %(token)s)
                AND CASE WHEN %(has_bounds)s
                    THEN x.ordinal >= (%(lowest)s)[7] AND x.ordinal < (%(highest)s)[7]
                    ELSE x.ordinal >= (SELECT low FROM bounds WHERE list = 'token')
                        AND x.ordinal < (SELECT high FROM bounds WHERE list = 'token') END
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN x.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN x.ordinal END DESC
            LIMIT %(limit)s + 1
        ) AS x
        WHERE 'token_transfer' = ANY (%(types)s)
    )
    UNION ALL
    (
        SELECT 'block_reward', 5, b.number, b.number, NULL, 'in', NULL,
            NULL, NULL, NULL, NULL, NULL
        FROM blocks b
        WHERE 'block_reward' = ANY (%(types)s) AND %(flow)s IN ('all', 'in')
            AND %(token)s IS NULL AND %(counterparty)s IS NULL
            AND b.miner = %(address)s AND b.transaction_count > 0
            AND b.number >= (SELECT low FROM bounds WHERE list = 'block')
            AND b.number < (SELECT high FROM bounds WHERE list = 'block')
        ORDER BY CASE WHEN %(direction)s = 'asc' THEN b.number END ASC,
            CASE WHEN %(direction)s = 'desc' THEN b.number END DESC
        LIMIT %(limit)s + 1
    )
    UNION ALL
    (
        SELECT 'withdrawal', 6, w.withdrawal_index, w.block_number, NULL, 'in', NULL,
            w.amount_wei, NULL, NULL, w.withdrawal_index, NULL
        FROM withdrawals w
        WHERE 'withdrawal' = ANY (%(types)s) AND %(flow)s IN ('all', 'in')
            AND %(token)s IS NULL AND %(counterparty)s IS NULL
            AND w.address = %(address)s
            AND (w.block_number, w.withdrawal_index) >= (
                SELECT low, CASE WHEN %(direction)s = 'asc' THEN withdrawal ELSE 0 END
                FROM bounds WHERE list = 'withdrawal')
            AND (w.block_number, w.withdrawal_index) < (
                SELECT high, CASE WHEN %(direction)s = 'asc' THEN 0 ELSE withdrawal END
                FROM bounds WHERE list = 'withdrawal')
        ORDER BY CASE WHEN %(direction)s = 'asc' THEN w.block_number END ASC,
            CASE WHEN %(direction)s = 'asc' THEN w.withdrawal_index END ASC,
            CASE WHEN %(direction)s = 'desc' THEN w.block_number END DESC,
            CASE WHEN %(direction)s = 'desc' THEN w.withdrawal_index END DESC
        LIMIT %(limit)s + 1
    )
), placed AS MATERIALIZED (
    SELECT e.type, e.ordinal, e.block_number, e.transaction_index, e.flow, e.counterparty, e.amount,
        e.token_address, e.token_id, e.place, e.batch_index, row_number() OVER (
        ORDER BY e.block_number * s.sign, coalesce(e.transaction_index, 2147483647) * s.sign,
            e.rank * s.sign, e.ordinal * s.sign) AS number
    FROM entries e, (SELECT CASE WHEN %(direction)s = 'asc' THEN 1::bigint ELSE -1 END AS sign) AS s
), lists AS (
    -- What an address sent and received count a transfer to oneself each, its whole list once.
    SELECT v.list, coalesce(v.entries, 0) AS entries, v.sign, b.first, b.beyond,
        %(block_from)s <= a.first_seen AND %(block_to)s >= a.last_seen AS is_whole,
        %(block_to)s < a.first_seen OR %(block_from)s > a.last_seen AS is_empty
    FROM addresses a
    CROSS JOIN LATERAL (VALUES
        ('transaction', 'coin', 'coin_by_from', a.coin_sent_count,
            (%(flow)s IN ('all', 'out'))::integer),
        ('transaction', 'coin', 'coin_by_to', a.coin_received_count,
            (%(flow)s IN ('all', 'in'))::integer),
        ('fee', 'fee', 'transactions_by_from', a.sent_count, (%(flow)s IN ('all', 'out'))::integer),
        ('internal_transfer', 'internal', 'internal_transfers_by_address', a.internal_count,
            CASE %(flow)s WHEN 'self' THEN -1 ELSE 1 END),
        ('internal_transfer', 'internal', 'internal_transfers_by_from', a.internal_sent_count,
            CASE %(flow)s WHEN 'self' THEN 1 WHEN 'in' THEN -1 ELSE 0 END),
        ('internal_transfer', 'internal', 'internal_transfers_by_to', a.internal_received_count,
            CASE %(flow)s WHEN 'self' THEN 1 WHEN 'out' THEN -1 ELSE 0 END),
        ('token_transfer', 'token', 'token_transfers_by_address', a.transfer_count,
            CASE %(flow)s WHEN 'self' THEN -1 ELSE 1 END),
        ('token_transfer', 'token', 'token_transfers_by_from', a.transfer_sent_count,
            CASE %(flow)s WHEN 'self' THEN 1 WHEN 'in' THEN -1 ELSE 0 END),
        ('token_transfer', 'token', 'token_transfers_by_to', a.transfer_received_count,
            CASE %(flow)s WHEN 'self' THEN 1 WHEN 'out' THEN -1 ELSE 0 END)
    ) AS v (type, bound, list, entries, sign)
    JOIN bounds b ON b.list = v.bound
    WHERE a.address = %(address)s AND v.type = ANY (%(types)s)
), counted AS (
    SELECT coalesce(sum(l.sign * CASE
        WHEN NOT %(has_range)s OR l.is_whole THEN l.entries
        WHEN l.is_empty THEN 0
        ELSE entries_before(l.list, %(address)s, l.entries, l.beyond)
            - entries_before(l.list, %(address)s, l.entries, l.first) END), 0) AS entries
    FROM lists l
    WHERE l.sign <> 0
    UNION ALL
    SELECT CASE WHEN count(*) <= %(most_counted)s
        THEN CASE %(flow)s WHEN 'out' THEN -count(*) ELSE count(*) END END
    FROM (SELECT
        FROM transactions t, bounds b
        WHERE %(flow)s IN ('out', 'self') AND 'transaction' = ANY (%(types)s) AND b.list = 'coin'
            AND %(token)s IS NULL AND %(counterparty)s IS NULL
            AND t.to_address = %(address)s AND t.to_address IS NOT DISTINCT FROM t.from_address
            AND t.status AND t.value > 0 AND t.ordinal >= b.first AND t.ordinal < b.beyond
            AND (NOT %(has_bounds)s OR (t.ordinal >= (%(lowest)s)[8] AND t.ordinal < (%(highest)s)[8]))
        LIMIT %(most_counted)s + 1) AS entry
    UNION ALL
    SELECT coalesce((SELECT a.produced_count FROM addresses a WHERE a.address = %(address)s), 0)
    WHERE NOT %(has_range)s AND 'block_reward' = ANY (%(types)s) AND %(flow)s IN ('all', 'in')
    UNION ALL
    SELECT CASE WHEN count(*) <= %(most_counted)s THEN count(*) END
    FROM (SELECT
        FROM blocks b, bounds r
        WHERE %(has_range)s AND 'block_reward' = ANY (%(types)s) AND %(flow)s IN ('all', 'in')
            AND %(token)s IS NULL AND %(counterparty)s IS NULL AND r.list = 'block'
            AND b.miner = %(address)s AND b.transaction_count > 0
            AND b.number >= r.first AND b.number < r.beyond
        LIMIT %(most_counted)s + 1) AS entry
    UNION ALL
    SELECT coalesce((SELECT a.withdrawal_count FROM addresses a WHERE a.address = %(address)s), 0)
    WHERE NOT %(has_range)s AND 'withdrawal' = ANY (%(types)s) AND %(flow)s IN ('all', 'in')
    UNION ALL
    SELECT CASE WHEN count(*) <= %(most_counted)s THEN count(*) END
    FROM (SELECT
        FROM withdrawals w, bounds r
        WHERE %(has_range)s AND 'withdrawal' = ANY (%(types)s) AND %(flow)s IN ('all', 'in')
            AND %(token)s IS NULL AND %(counterparty)s IS NULL AND r.list = 'withdrawal'
            AND w.address = %(address)s AND w.block_number >= r.first AND w.block_number < r.beyond
        LIMIT %(most_counted)s + 1) AS entry
)
SELECT index_version(),
    (SELECT json_list(string_agg(history_record(
            p.type, p.flow, p.counterparty, coalesce(p.amount, producer_fees(b)),
            coalesce(k.symbol, %(symbol)s), coalesce(k.decimals, 18)::integer, p.token_address,
            k.type, p.token_id, t.hash, t.method, p.block_number, b.timestamp,
            p.transaction_index, p.place, p.batch_index), ',' ORDER BY p.number))
    FROM placed p
    JOIN blocks b ON b.number = p.block_number
    LEFT JOIN LATERAL (
        SELECT t.hash, method_id(t) AS method
        FROM transactions t
        WHERE t.ordinal = b.transactions_before + p.transaction_index
            AND (NOT %(has_bounds)s OR (t.ordinal >= (%(lowest)s)[8] AND t.ordinal < (%(highest)s)[8]))
        LIMIT 1 -- a look-up for each row, not a range
    ) AS t ON true
    LEFT JOIN tokens k ON k.address = p.token_address
    WHERE p.number <= %(limit)s),
    (SELECT count(*) FROM placed WHERE number <= %(limit)s),
    CASE WHEN %(token)s IS NULL AND %(counterparty)s IS NULL
            AND NOT EXISTS (SELECT FROM counted c WHERE c.entries IS NULL)
        THEN (SELECT coalesce(sum(c.entries), 0)::bigint FROM counted c) END,
    CASE WHEN EXISTS (SELECT FROM placed WHERE number > %(limit)s) THEN (
        SELECT array_agg(coalesce(
            (SELECT CASE WHEN v.number = 6 THEN p.block_number
                    ELSE p.ordinal + (%(direction)s = 'asc')::integer END
                FROM placed p
                WHERE p.type = v.type AND p.number <= %(limit)s ORDER BY p.number DESC LIMIT 1),
            (%(after)s::bigint[])[v.number],
            CASE WHEN %(direction)s = 'asc' OR v.number = 7 THEN 0 ELSE 1::bigint << 62 END)
            ORDER BY v.number)
        FROM (VALUES (1, 'transaction'), (2, 'fee'), (3, 'internal_transfer'),
            (4, 'token_transfer'), (5, 'block_reward'), (6, 'withdrawal'), (7, 'withdrawal')
        ) AS v (number, type)) END,
    (SELECT block_reference(b) FROM blocks b
        WHERE b.number = (SELECT max(block_number) FROM placed WHERE number <= %(limit)s)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s),
    a.balance::text, a.balance_block,
    EXISTS (SELECT FROM contracts c WHERE c.address = %(address)s),
    head.number, head.hash, newest_untraced_block(),
    coalesce(a.net_wei, 0)::text, (SELECT c.start_block FROM chain c), untraced_blocks(),
    token.is_consistent, token.type, token.balance
FROM (SELECT 1) AS always
LEFT JOIN addresses a ON a.address = %(address)s
LEFT JOIN (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS head ON true
LEFT JOIN (
    SELECT k.type, k.negative_holder_count = 0 AS is_consistent, (
        SELECT h.balance::text
        FROM token_holders h
        WHERE h.token_address = %(token)s AND h.holder = %(address)s) AS balance
    FROM tokens k
    WHERE k.address = %(token)s
) AS token ON true;
