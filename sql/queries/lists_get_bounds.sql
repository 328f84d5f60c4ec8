-- Between which ordinals a list by several keys has its rows, as far as a few probes tell: where its
-- addresses were first and last seen, its range of blocks, and its cursor. As values in the list's own
-- statement they spare PostgreSQL the planning of partitions that have none of them.
-- params: entity text, addresses bytea[], block_from bigint, block_to bigint, direction text,
--   after bigint null
-- literals: entity, direction
-- returns: one row: index version, lowest and highest ordinal (null: that end is not bounded)
-- index: addresses_pkey, blocks_pkey
WITH seen AS MATERIALIZED (
    SELECT greatest(%(block_from)s, max(a.first_seen)) AS first,
        least(%(block_to)s, min(a.last_seen)) AS last
    FROM addresses a
    WHERE a.address = ANY (%(addresses)s)
)
SELECT index_version(),
    greatest((
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
    least((
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
