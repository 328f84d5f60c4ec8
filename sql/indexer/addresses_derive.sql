-- Adds what blocks already written mean for addresses; sign -1 takes the same away again.
-- An unwound address is marked, so that indexer/addresses_restore_last_seen finds its last_seen anew.
-- All blocks are of one day, which gets the addresses that are new, or were not seen on it yet: the
-- statement's snapshot still has where an address was last seen before these blocks.
-- params: span block_range, sign integer
-- returns: lists that passed a checkpoint: list, key, entries they had before
-- index: transactions_pkey, token_transfers_pkey, dex_trades_pkey, blocks_pkey,
--   internal_transfers_pkey, logs_pkey, withdrawals_pkey, log_emitters_by_block, addresses_pkey,
--   daily_stats_pkey, daily_stats_first_block_key
WITH changes AS MATERIALIZED (
    SELECT address, first_seen, last_seen, transaction_count, sent_count, received_count,
        transfer_count, transfer_sent_count, transfer_received_count, trade_count, internal_count,
        internal_sent_count, internal_received_count, log_count, coin_sent_count,
        coin_received_count, withdrawal_count, produced_count, net_wei
    FROM addresses_changes(%(span)s::block_range)
), counted AS (
    INSERT INTO addresses AS a (address, first_seen, last_seen, transaction_count, sent_count,
        received_count, transfer_count, transfer_sent_count, transfer_received_count, trade_count,
        internal_count, internal_sent_count, internal_received_count, log_count, coin_sent_count,
        coin_received_count, withdrawal_count, produced_count, net_wei)
    SELECT address, first_seen, last_seen, transaction_count, sent_count, received_count,
        transfer_count, transfer_sent_count, transfer_received_count, trade_count, internal_count,
        internal_sent_count, internal_received_count, log_count, coin_sent_count,
        coin_received_count, withdrawal_count, produced_count, net_wei
    FROM changes
    ORDER BY address -- so that each page of the index is visited once
    ON CONFLICT (address) DO UPDATE SET
        first_seen = least(a.first_seen, EXCLUDED.first_seen),
        last_seen = greatest(a.last_seen, EXCLUDED.last_seen),
        unwound = %(sign)s < 0,
        transaction_count = a.transaction_count + EXCLUDED.transaction_count * %(sign)s,
        sent_count = a.sent_count + EXCLUDED.sent_count * %(sign)s,
        received_count = a.received_count + EXCLUDED.received_count * %(sign)s,
        transfer_count = a.transfer_count + EXCLUDED.transfer_count * %(sign)s,
        transfer_sent_count = a.transfer_sent_count + EXCLUDED.transfer_sent_count * %(sign)s,
        transfer_received_count = a.transfer_received_count
            + EXCLUDED.transfer_received_count * %(sign)s,
        trade_count = a.trade_count + EXCLUDED.trade_count * %(sign)s,
        internal_count = a.internal_count + EXCLUDED.internal_count * %(sign)s,
        internal_sent_count = a.internal_sent_count + EXCLUDED.internal_sent_count * %(sign)s,
        internal_received_count = a.internal_received_count
            + EXCLUDED.internal_received_count * %(sign)s,
        log_count = sum_or_null(a.log_count, EXCLUDED.log_count * %(sign)s),
        coin_sent_count = sum_or_null(a.coin_sent_count, EXCLUDED.coin_sent_count * %(sign)s),
        coin_received_count
            = sum_or_null(a.coin_received_count, EXCLUDED.coin_received_count * %(sign)s),
        withdrawal_count = sum_or_null(a.withdrawal_count, EXCLUDED.withdrawal_count * %(sign)s),
        produced_count = sum_or_null(a.produced_count, EXCLUDED.produced_count * %(sign)s),
        net_wei = sum_or_null(a.net_wei, EXCLUDED.net_wei * %(sign)s),
        balance_block = NULL
    RETURNING a.*, (SELECT o.last_seen FROM addresses o WHERE o.address = a.address) AS seen_before
), active AS (
    UPDATE daily_stats s
    SET new_address_count = s.new_address_count
            + (SELECT count(*) FROM counted c WHERE c.seen_before IS NULL),
        active_address_count = s.active_address_count + (SELECT count(*) FROM counted c
            WHERE c.seen_before IS NULL OR c.seen_before < s.first_block)
    WHERE %(sign)s > 0 AND s.day = day_of_block((%(span)s::block_range).last_block)
)
SELECT grown.list, c.address, grown.entries - grown.added
FROM counted c
JOIN changes d USING (address)
CROSS JOIN LATERAL (VALUES
    ('transactions_by_address', c.transaction_count, d.transaction_count),
    ('transactions_by_from', c.sent_count, d.sent_count),
    ('transactions_by_to', c.received_count, d.received_count),
    ('token_transfers_by_address', c.transfer_count, d.transfer_count),
    ('token_transfers_by_from', c.transfer_sent_count, d.transfer_sent_count),
    ('token_transfers_by_to', c.transfer_received_count, d.transfer_received_count),
    ('dex_trades_by_maker', c.trade_count, d.trade_count),
    ('internal_transfers_by_address', c.internal_count, d.internal_count),
    ('internal_transfers_by_from', c.internal_sent_count, d.internal_sent_count),
    ('internal_transfers_by_to', c.internal_received_count, d.internal_received_count),
    ('coin_by_from', c.coin_sent_count, d.coin_sent_count),
    ('coin_by_to', c.coin_received_count, d.coin_received_count),
    ('logs_by_address', c.log_count, d.log_count)
) AS grown (list, entries, added)
WHERE %(sign)s > 0
    AND greatest(c.transaction_count, c.transfer_count, c.trade_count, c.internal_count, c.log_count)
        > checkpoint_every()
    AND passes_checkpoint(grown.entries - grown.added, grown.entries);
