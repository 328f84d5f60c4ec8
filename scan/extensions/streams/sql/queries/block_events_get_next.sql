-- The events after a position, whose reader has had the first `event_count` events of a block: the next
-- `size` of that block's events, or of the next block's. For an orphaned block it tells whether the journal
-- has its events.
-- params: number bigint, hash bytea, event_count bigint, types text[], size bigint
-- literals: none
-- returns: one row: number of the newest block (null: none), how many events the block has (null: it is
--   not in the chain); of the block whose events follow (null: there is none): number, hash, the number of
--   the first one read, how many there are in all, and those of `types` as lines `number type record`;
--   of an orphaned block: its parent's hash (null: it is not one), whether its events were kept; the version
--   of the index
-- index: chain_pkey, label_state_pkey, blocks_pkey, blocks_hash_key, orphaned_blocks_pkey, transactions_pkey,
--   token_transfers_pkey, internal_transfers_pkey, dex_trades_pkey, logs_pkey, tokens_pkey, dexes_pkey,
--   event_topics_pkey
WITH named AS (
    -- Never read. PostgreSQL makes the plan of a prepared statement anew where one of its tables has got a
    -- partition; of the tables of a function it does not notice one that came while it made the plan.
    SELECT FROM transactions, token_transfers, internal_transfers, dex_trades, logs
), here AS MATERIALIZED (
    SELECT b.number, s.events
    FROM blocks b
    CROSS JOIN block_sections(b) s
    WHERE b.hash = %(hash)s AND b.number = %(number)s AND b.number >= first_kept_block()
), next AS MATERIALIZED (
    SELECT CASE WHEN h.events > %(event_count)s THEN h.number ELSE h.number + 1 END AS number,
        CASE WHEN h.events > %(event_count)s THEN %(event_count)s ELSE 0 END AS first
    FROM here h
)
SELECT (SELECT max(b.number) FROM blocks b), (SELECT h.events FROM here h),
    f.number, f.hash, f.first, f.total, f.events, o.parent_hash, o.events IS NOT NULL,
    index_version()
FROM (SELECT) AS one
LEFT JOIN (
    SELECT b.number, b.hash, n.first, s.events AS total, (
        SELECT string_agg(format('%%s %%s %%s', e.index, e.type, e.record), E'\n' ORDER BY e.index)
        FROM block_events(b, %(types)s, n.first, n.first + %(size)s - 1) e) AS events
    FROM next n
    JOIN blocks b ON b.number = n.number
    CROSS JOIN block_sections(b) s
) AS f ON true
LEFT JOIN orphaned_blocks o
    ON o.hash = %(hash)s AND o.number = %(number)s AND NOT EXISTS (SELECT FROM here);
