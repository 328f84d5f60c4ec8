-- The events of a block, in its order.

-- The numbers of the first events of each type in their block, and the number after the last event.
CREATE OR REPLACE FUNCTION block_sections(b blocks)
RETURNS TABLE (token_transfers bigint, internal_transfers bigint, dex_trades bigint, logs bigint,
    events bigint)
LANGUAGE sql IMMUTABLE AS $$
    SELECT s.transfers, s.transfers + b.token_transfer_count,
        s.transfers + b.token_transfer_count + b.internal_transfer_count,
        s.transfers + b.token_transfer_count + b.internal_transfer_count + b.dex_trade_count,
        s.transfers + b.token_transfer_count + b.internal_transfer_count + b.dex_trade_count
            + b.log_count
    FROM (SELECT 1 + b.transaction_count::bigint AS transfers) AS s
$$;

-- The events `first` to `last` of a block, in this order: its head, its transactions, token transfers,
-- internal transfers, trades and stored logs, numbered from 0 whichever `types` are read. A range is given
-- for every table, for the planner: see indexer/events_insert.sql.
CREATE OR REPLACE FUNCTION block_events(b blocks, types text[], first bigint, last bigint)
RETURNS TABLE (index bigint, type text, record text) LANGUAGE sql STABLE AS $$
    SELECT 0::bigint, 'heads', block_record(b)::text
    WHERE 'heads' = ANY (types) AND first = 0
    UNION ALL
    SELECT t.ordinal - b.transactions_before + 1, 'transactions', transaction_record(t, b)
    FROM transactions t
    WHERE 'transactions' = ANY (types)
        AND t.ordinal >= b.transactions_before + greatest(first - 1, 0)
        AND t.ordinal <= b.transactions_before + least(last - 1, b.transaction_count - 1)
    UNION ALL
    SELECT x.ordinal - b.token_transfers_before + s.token_transfers, 'token_transfers',
        token_transfer_record(x, t, k, b.timestamp)::text
    FROM block_sections(b) s
    JOIN token_transfers x
        ON x.ordinal >= b.token_transfers_before + greatest(first - s.token_transfers, 0)
        AND x.ordinal <= b.token_transfers_before
            + least(last - s.token_transfers, b.token_transfer_count - 1)
    JOIN transactions t
        ON t.ordinal = b.transactions_before + x.transaction_index
        AND t.ordinal BETWEEN b.transactions_before
            AND b.transactions_before + b.transaction_count - 1
    JOIN tokens k ON k.address = x.token_address
    WHERE 'token_transfers' = ANY (types)
    UNION ALL
    SELECT i.ordinal - b.internal_transfers_before + s.internal_transfers, 'internal_transfers',
        internal_transfer_record(i, t.hash, b)::text
    FROM block_sections(b) s
    JOIN internal_transfers i
        ON i.ordinal >= b.internal_transfers_before + greatest(first - s.internal_transfers, 0)
        AND i.ordinal <= b.internal_transfers_before
            + least(last - s.internal_transfers, b.internal_transfer_count - 1)
    JOIN transactions t
        ON t.ordinal = b.transactions_before + i.transaction_index
        AND t.ordinal BETWEEN b.transactions_before
            AND b.transactions_before + b.transaction_count - 1
    WHERE 'internal_transfers' = ANY (types)
    UNION ALL
    SELECT d.ordinal - b.dex_trades_before + s.dex_trades, 'dex_trades',
        dex_trade_record(d, t.hash, e.name, b.timestamp, i, o,
            (SELECT g.is_backed FROM trade_backing(d, b) AS g))::text
    FROM block_sections(b) s
    JOIN dex_trades d
        ON d.ordinal >= b.dex_trades_before + greatest(first - s.dex_trades, 0)
        AND d.ordinal <= b.dex_trades_before
            + least(last - s.dex_trades, b.dex_trade_count - 1)
    JOIN transactions t
        ON t.ordinal = b.transactions_before + d.transaction_index
        AND t.ordinal BETWEEN b.transactions_before
            AND b.transactions_before + b.transaction_count - 1
    JOIN dexes e ON e.dex_id = d.dex_id
    LEFT JOIN tokens i ON i.address = d.token_in
    LEFT JOIN tokens o ON o.address = d.token_out
    WHERE 'dex_trades' = ANY (types)
    UNION ALL
    SELECT l.ordinal - b.logs_before + s.logs, 'logs',
        log_event_record(l, e.topic0, t.hash, b.timestamp)
    FROM block_sections(b) s
    JOIN logs l
        ON l.ordinal >= b.logs_before + greatest(first - s.logs, 0)
        AND l.ordinal <= b.logs_before + least(last - s.logs, b.log_count - 1)
    JOIN transactions t
        ON t.ordinal = b.transactions_before + l.transaction_index
        AND t.ordinal BETWEEN b.transactions_before
            AND b.transactions_before + b.transaction_count - 1
    LEFT JOIN event_topics e ON e.topic_id = l.topic_id
    WHERE 'logs' = ANY (types)
$$;
