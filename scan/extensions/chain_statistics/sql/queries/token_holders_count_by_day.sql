-- The number of a token's holders after each of the newest days (UTC), by its transfers in them: a balance
-- after a day is today's without what was moved later. All transfers of these days are read. A day without
-- blocks is left out.
-- params: address bytea, days integer
-- literals: none
-- returns: one row: index version, JSON text [{"time": Unix seconds, "holders"}] oldest first
-- index: daily_stats_pkey, blocks_pkey, token_transfers_by_token, token_holders_pkey, tokens_pkey
WITH days AS MATERIALIZED (
    SELECT s.day, s.first_block
    FROM daily_stats s
    WHERE s.day > (SELECT max(n.day) FROM daily_stats n) - %(days)s
), bounds AS MATERIALIZED (
    SELECT array_agg(d.first_block ORDER BY d.day) AS first_blocks, array_agg(d.day ORDER BY d.day) AS days,
        (SELECT b.token_transfers_before FROM blocks b WHERE b.number = min(d.first_block)) AS ordinal
    FROM days d
), moved AS MATERIALIZED (
    SELECT x.from_address, x.to_address, x.value,
        bounds.days[width_bucket(x.block_number, bounds.first_blocks)] AS day
    FROM bounds
    JOIN token_transfers x ON x.ordinal >= bounds.ordinal
    WHERE x.token_address = %(address)s
), net AS MATERIALIZED (
    SELECT m.holder, m.day, sum(m.value) AS value
    FROM (
        SELECT to_address AS holder, day, value FROM moved
        UNION ALL
        SELECT from_address, day, -value FROM moved
    ) AS m
    WHERE m.holder <> zero_address()
    GROUP BY m.holder, m.day
), balances AS (
    SELECT n.day, n.value, coalesce(h.balance, 0) + n.value - sum(n.value) OVER (
        PARTITION BY n.holder
        ORDER BY n.day DESC) AS balance
    FROM net n
    LEFT JOIN token_holders h ON h.holder = n.holder AND h.token_address = %(address)s
), changes AS (
    SELECT b.day, sum((b.balance > 0)::integer - (b.balance > b.value)::integer) AS change
    FROM balances b
    GROUP BY b.day
), counts AS (
    SELECT d.day, k.holder_count + coalesce(c.change, 0) - sum(coalesce(c.change, 0)) OVER (
        ORDER BY d.day DESC) AS holders
    FROM tokens k
    CROSS JOIN days d
    LEFT JOIN changes c ON c.day = d.day
    WHERE k.address = %(address)s
)
SELECT index_version(), coalesce((
    SELECT json_agg(json_build_object(
        'time', extract(epoch FROM c.day)::bigint, 'holders', c.holders) ORDER BY c.day)::text
    FROM counts c), '[]');
