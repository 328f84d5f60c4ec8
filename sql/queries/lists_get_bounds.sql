-- What is known of a list by several keys before it is read: the list by one of them that has the fewest
-- entries (of a sender that is the recipient too, what it sent to itself), and between which ordinals its
-- rows are, as far as a few probes tell: where its addresses were first and last seen, its range of blocks,
-- and its cursor. As values of the list's own statement they spare PostgreSQL the choice of an index, and
-- the partitions that have none of the rows.
-- params: entity text, names text[], keys bytea[], block_from bigint, block_to bigint, direction text,
--   after bigint null
-- literals: entity, direction
-- returns: one row: index version, list (the entity's name where no key has a list), lowest and highest
--   ordinal
-- index: addresses_pkey, tokens_pkey, pools_pkey, dexes_name_key, event_topics_topic0_key, blocks_pkey
WITH given AS MATERIALIZED (
    SELECT %(entity)s || '_by_' || g.name AS list, g.name, g.key, g.number, a.first_seen, a.last_seen,
        CASE %(entity)s || '_by_' || g.name
            WHEN 'transactions_by_address' THEN a.transaction_count
            WHEN 'transactions_by_from' THEN a.sent_count
            WHEN 'transactions_by_to' THEN a.received_count
            WHEN 'token_transfers_by_address' THEN a.transfer_count
            WHEN 'token_transfers_by_from' THEN a.transfer_sent_count
            WHEN 'token_transfers_by_to' THEN a.transfer_received_count
            WHEN 'token_transfers_by_token' THEN (
                SELECT k.transfer_count FROM tokens k WHERE k.address = g.key)
            WHEN 'internal_transfers_by_address' THEN a.internal_count
            WHEN 'internal_transfers_by_from' THEN a.internal_sent_count
            WHEN 'internal_transfers_by_to' THEN a.internal_received_count
            WHEN 'dex_trades_by_maker' THEN a.trade_count
            WHEN 'dex_trades_by_pool' THEN (
                SELECT p.trade_count FROM pools p WHERE p.address = g.key)
            WHEN 'dex_trades_by_dex' THEN (
                SELECT x.trade_count FROM dexes x WHERE x.name = convert_from(g.key, 'UTF8'))
            WHEN 'logs_by_address' THEN a.log_count
            WHEN 'logs_by_topic0' THEN (
                SELECT e.log_count FROM event_topics e WHERE e.topic0 = g.key) END AS entries
    FROM unnest(%(names)s, %(keys)s) WITH ORDINALITY AS g (name, key, number)
    LEFT JOIN addresses a ON a.address = g.key AND g.name IN ('address', 'from', 'to', 'maker')
), seen AS MATERIALIZED (
    SELECT greatest(%(block_from)s, max(g.first_seen)) AS first,
        least(%(block_to)s, min(g.last_seen)) AS last
    FROM given g
)
SELECT index_version(),
    CASE WHEN (SELECT count(DISTINCT g.key) < count(*) FROM given g WHERE g.name IN ('from', 'to'))
        THEN %(entity)s || '_to_self'
        ELSE coalesce(
            (SELECT g.list FROM given g ORDER BY coalesce(g.entries, 0) ASC, g.number ASC LIMIT 1),
            %(entity)s) END,
    greatest(0, (
            SELECT CASE %(entity)s
                WHEN 'transactions' THEN b.transactions_before
                WHEN 'token_transfers' THEN b.token_transfers_before
                WHEN 'internal_transfers' THEN b.internal_transfers_before
                WHEN 'dex_trades' THEN b.dex_trades_before
                WHEN 'logs' THEN b.logs_before END
            FROM blocks b
            WHERE b.number >= (SELECT first FROM seen)
            ORDER BY b.number ASC
            LIMIT 1),
        CASE %(direction)s WHEN 'asc' THEN %(after)s + 1 END),
    least(9223372036854775807, (
            SELECT CASE %(entity)s
                WHEN 'transactions' THEN b.transactions_before
                WHEN 'token_transfers' THEN b.token_transfers_before
                WHEN 'internal_transfers' THEN b.internal_transfers_before
                WHEN 'dex_trades' THEN b.dex_trades_before
                WHEN 'logs' THEN b.logs_before END - 1
            FROM blocks b
            WHERE b.number > (SELECT last FROM seen)
            ORDER BY b.number ASC
            LIMIT 1),
        CASE %(direction)s WHEN 'desc' THEN %(after)s - 1 END);
