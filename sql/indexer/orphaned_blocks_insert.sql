-- Notes the blocks about to be unwound, the newest 10,000 of them, with their events. Where there are more
-- than 100,000 events, or their text would take more than 64 MiB, none is kept, and clients that follow
-- events have to read lists again. A block that was orphaned before has its row renewed.
-- params: last_kept bigint, now timestamptz
-- returns: nothing
-- index: blocks_pkey, transactions_pkey, token_transfers_pkey, internal_transfers_pkey,
--   dex_trades_pkey, logs_pkey, tokens_pkey
WITH lost AS MATERIALIZED (
    SELECT b.*, sum(s.events) OVER () AS all_events
    FROM blocks b
    CROSS JOIN block_sections(b) s
    WHERE b.number > %(last_kept)s
), fork AS MATERIALIZED (
    SELECT parent_hash AS hash FROM lost ORDER BY number LIMIT 1
), noted AS (
    SELECT l.number, l.hash, l.parent_hash, CASE WHEN l.all_events <= 100000 THEN (
        SELECT '{' || string_agg(format('"%%s":%%s', r.type, r.records), ',' ORDER BY r.first) || '}'
        FROM (
            SELECT e.type, min(e.index) AS first,
                json_list(string_agg(e.record, ',' ORDER BY e.index)) AS records
            FROM blocks b
            CROSS JOIN block_events(b, '{heads,transactions,token_transfers,internal_transfers,'
                'dex_trades,logs}', 0, 9223372036854775807) e
            WHERE b.number = l.number
            GROUP BY e.type
        ) AS r) END AS events
    FROM lost l
    ORDER BY l.number DESC
    LIMIT 10000
), measured AS (
    SELECT n.*, sum(octet_length(n.events)) OVER () <= 67108864 AS has_events FROM noted n
)
INSERT INTO orphaned_blocks (hash, number, parent_hash, fork_number, fork_hash, orphaned_at, events,
    events_bytes)
SELECT m.hash, m.number, m.parent_hash, %(last_kept)s, f.hash, %(now)s,
    CASE WHEN m.has_events THEN m.events::json END,
    CASE WHEN m.has_events THEN octet_length(m.events) ELSE 0 END
FROM measured m
CROSS JOIN fork f
ON CONFLICT (hash) DO UPDATE
SET fork_number = excluded.fork_number, fork_hash = excluded.fork_hash,
    orphaned_at = excluded.orphaned_at, events = excluded.events,
    events_bytes = excluded.events_bytes;
