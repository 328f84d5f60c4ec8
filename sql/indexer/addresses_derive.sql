-- Counts what blocks already written mean for addresses; sign -1 takes the same away again.
-- An unwound address is marked, so that indexer/addresses_restore_last_seen finds its last_seen anew.
-- All blocks are of one day, which gets the addresses that are new, or were not seen on it yet: the
-- statement's snapshot still has where an address was last seen before these blocks.
-- params: block_from bigint, block_to bigint, first_transaction bigint, last_transaction bigint,
--   first_transfer bigint, last_transfer bigint, first_trade bigint, last_trade bigint,
--   first_internal bigint, last_internal bigint, sign integer
-- returns: lists that passed a checkpoint: list, key, entries they had before
-- index: transactions_pkey, token_transfers_pkey, dex_trades_pkey, blocks_pkey,
--   internal_transfers_pkey, withdrawals_pkey, log_emitters_by_block, addresses_pkey,
--   daily_stats_pkey, daily_stats_first_block_key
WITH seen AS (
    SELECT from_address AS address, block_number,
        1 AS transactions, 1 AS sent, 0 AS received,
        0 AS transfers, 0 AS transfers_sent, 0 AS transfers_received, 0 AS trades,
        0 AS internal, 0 AS internal_sent, 0 AS internal_received,
        (status AND value > 0)::integer AS coin_sent, 0 AS coin_received, 0 AS withdrawals,
        0 AS produced, -transaction_fee(t) - CASE WHEN status THEN value ELSE 0 END AS net
    FROM transactions t
    WHERE ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
    UNION ALL
    SELECT to_address, block_number, (to_address <> from_address)::integer, 0, 1, 0, 0, 0, 0,
        0, 0, 0, 0, (status AND value > 0 AND to_address <> from_address)::integer, 0, 0,
        CASE WHEN status THEN value ELSE 0 END
    FROM transactions
    WHERE ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
        AND to_address IS NOT NULL
    UNION ALL
    SELECT contract_address, block_number,
        (contract_address <> from_address)::integer, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, (status AND value > 0 AND contract_address <> from_address)::integer, 0, 0,
        CASE WHEN status THEN value ELSE 0 END
    FROM transactions
    WHERE ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
        AND contract_address IS NOT NULL
    UNION ALL
    SELECT from_address, block_number, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM token_transfers
    WHERE ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
    UNION ALL
    SELECT to_address, block_number, 0, 0, 0, (to_address <> from_address)::integer, 0, 1, 0,
        0, 0, 0, 0, 0, 0, 0, 0
    FROM token_transfers
    WHERE ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
    UNION ALL
    SELECT maker, block_number, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0
    FROM dex_trades
    WHERE ordinal BETWEEN %(first_trade)s AND %(last_trade)s
    UNION ALL
    SELECT from_address, block_number, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, -value
    FROM internal_transfers
    WHERE ordinal BETWEEN %(first_internal)s AND %(last_internal)s
    UNION ALL
    SELECT to_address, block_number, 0, 0, 0, 0, 0, 0, 0,
        (to_address <> from_address)::integer, 0, 1, 0, 0, 0, 0, value
    FROM internal_transfers
    WHERE ordinal BETWEEN %(first_internal)s AND %(last_internal)s
    UNION ALL
    SELECT miner, number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        (transaction_count > 0)::integer, producer_fees(b)
    FROM blocks b
    WHERE number BETWEEN %(block_from)s AND %(block_to)s
    UNION ALL
    SELECT address, block_number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, amount_wei
    FROM withdrawals
    WHERE block_number BETWEEN %(block_from)s AND %(block_to)s
    UNION ALL
    SELECT address, block_number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM log_emitters
    WHERE block_number BETWEEN %(block_from)s AND %(block_to)s
), deltas AS MATERIALIZED (
    SELECT address, min(block_number) AS first, max(block_number) AS last,
        sum(transactions) * %(sign)s AS transactions,
        sum(sent) * %(sign)s AS sent,
        sum(received) * %(sign)s AS received,
        sum(transfers) * %(sign)s AS transfers,
        sum(transfers_sent) * %(sign)s AS transfers_sent,
        sum(transfers_received) * %(sign)s AS transfers_received,
        sum(trades) * %(sign)s AS trades,
        sum(internal) * %(sign)s AS internal,
        sum(internal_sent) * %(sign)s AS internal_sent,
        sum(internal_received) * %(sign)s AS internal_received,
        nullif(sum(coin_sent) * %(sign)s, 0) AS coin_sent,
        nullif(sum(coin_received) * %(sign)s, 0) AS coin_received,
        nullif(sum(withdrawals) * %(sign)s, 0) AS withdrawals,
        nullif(sum(produced) * %(sign)s, 0) AS produced,
        nullif(sum(net) * %(sign)s, 0) AS net
    FROM seen
    GROUP BY address
), counted AS (
    INSERT INTO addresses AS a (address, first_seen, last_seen, transaction_count, sent_count,
        received_count, transfer_count, transfer_sent_count, transfer_received_count, trade_count,
        internal_count, internal_sent_count, internal_received_count,
        coin_sent_count, coin_received_count, withdrawal_count, produced_count, net_wei)
    SELECT address, first, last, transactions, sent, received,
        transfers, transfers_sent, transfers_received, trades,
        internal, internal_sent, internal_received,
        coin_sent, coin_received, withdrawals, produced, net
    FROM deltas
    ORDER BY address -- so that each page of the index is visited once
    ON CONFLICT (address) DO UPDATE SET
        first_seen = least(a.first_seen, EXCLUDED.first_seen),
        last_seen = greatest(a.last_seen, EXCLUDED.last_seen),
        unwound = %(sign)s < 0,
        transaction_count = a.transaction_count + EXCLUDED.transaction_count,
        sent_count = a.sent_count + EXCLUDED.sent_count,
        received_count = a.received_count + EXCLUDED.received_count,
        transfer_count = a.transfer_count + EXCLUDED.transfer_count,
        transfer_sent_count = a.transfer_sent_count + EXCLUDED.transfer_sent_count,
        transfer_received_count = a.transfer_received_count + EXCLUDED.transfer_received_count,
        trade_count = a.trade_count + EXCLUDED.trade_count,
        internal_count = a.internal_count + EXCLUDED.internal_count,
        internal_sent_count = a.internal_sent_count + EXCLUDED.internal_sent_count,
        internal_received_count = a.internal_received_count + EXCLUDED.internal_received_count,
        coin_sent_count = CASE WHEN EXCLUDED.coin_sent_count IS NULL THEN a.coin_sent_count
            ELSE nullif(coalesce(a.coin_sent_count, 0) + EXCLUDED.coin_sent_count, 0) END,
        coin_received_count = CASE WHEN EXCLUDED.coin_received_count IS NULL THEN a.coin_received_count
            ELSE nullif(coalesce(a.coin_received_count, 0) + EXCLUDED.coin_received_count, 0) END,
        withdrawal_count = CASE WHEN EXCLUDED.withdrawal_count IS NULL THEN a.withdrawal_count
            ELSE nullif(coalesce(a.withdrawal_count, 0) + EXCLUDED.withdrawal_count, 0) END,
        produced_count = CASE WHEN EXCLUDED.produced_count IS NULL THEN a.produced_count
            ELSE nullif(coalesce(a.produced_count, 0) + EXCLUDED.produced_count, 0) END,
        net_wei = CASE WHEN EXCLUDED.net_wei IS NULL THEN a.net_wei
            ELSE nullif(coalesce(a.net_wei, 0) + EXCLUDED.net_wei, 0) END,
        balance_block = NULL
    RETURNING a.*, (SELECT o.last_seen FROM addresses o WHERE o.address = a.address) AS seen_before
), active AS (
    UPDATE daily_stats s
    SET new_address_count = s.new_address_count
            + (SELECT count(*) FROM counted c WHERE c.seen_before IS NULL),
        active_address_count = s.active_address_count + (SELECT count(*) FROM counted c
            WHERE c.seen_before IS NULL OR c.seen_before < s.first_block)
    WHERE %(sign)s > 0 AND s.day = day_of_block(%(block_to)s)
)
SELECT grown.list, c.address, grown.entries - grown.added
FROM counted c
JOIN deltas d USING (address)
CROSS JOIN LATERAL (VALUES
    ('transactions_by_address', c.transaction_count, d.transactions),
    ('transactions_by_from', c.sent_count, d.sent),
    ('transactions_by_to', c.received_count, d.received),
    ('token_transfers_by_address', c.transfer_count, d.transfers),
    ('token_transfers_by_from', c.transfer_sent_count, d.transfers_sent),
    ('token_transfers_by_to', c.transfer_received_count, d.transfers_received),
    ('dex_trades_by_maker', c.trade_count, d.trades),
    ('internal_transfers_by_address', c.internal_count, d.internal),
    ('internal_transfers_by_from', c.internal_sent_count, d.internal_sent),
    ('internal_transfers_by_to', c.internal_received_count, d.internal_received),
    ('coin_by_from', c.coin_sent_count, d.coin_sent),
    ('coin_by_to', c.coin_received_count, d.coin_received)
) AS grown (list, entries, added)
WHERE greatest(c.transaction_count, c.transfer_count, c.trade_count, c.internal_count)
        > checkpoint_every()
    AND passes_checkpoint(grown.entries - grown.added, grown.entries);
