-- How a token's holders changed in the newest days (UTC), by its transfers in them: who held it before had
-- a balance then that is today's without what they moved. Of more than `most` transfers nothing is counted, and of
-- a token that its balances contradict.
-- params: address bytea, days integer, most integer
-- literals: none
-- returns: one row: index version, whether they contradict it, first of the days (null: no block), its first block, number of
--   transfers since (`most` + 1: more, and the next are 0), of addresses that became holders, of those that are
--   none any more
-- index: daily_stats_pkey, blocks_pkey, token_transfers_by_token, token_holders_pkey, tokens_pkey
WITH start AS MATERIALIZED (
    SELECT s.day, s.first_block, b.token_transfers_before AS ordinal
    FROM daily_stats s
    JOIN blocks b ON b.number = s.first_block
    WHERE s.day > (SELECT max(n.day) FROM daily_stats n) - %(days)s
    ORDER BY s.day ASC
    LIMIT 1
), moved AS MATERIALIZED (
    SELECT x.from_address, x.to_address, x.value
    FROM token_transfers x
    WHERE x.token_address = %(address)s AND x.ordinal >= (SELECT ordinal FROM start)
    ORDER BY x.ordinal DESC
    LIMIT %(most)s + 1
), net AS MATERIALIZED (
    SELECT m.holder, sum(m.value) AS value
    FROM (
        SELECT to_address AS holder, value FROM moved
        UNION ALL
        SELECT from_address, -value FROM moved
    ) AS m
    WHERE m.holder <> zero_address() AND (SELECT count(*) FROM moved) <= %(most)s
    GROUP BY m.holder
), balances AS (
    SELECT coalesce(h.balance, 0) AS balance, coalesce(h.balance, 0) - n.value AS earlier
    FROM net n
    LEFT JOIN token_holders h ON h.holder = n.holder AND h.token_address = %(address)s
)
SELECT index_version(),
    coalesce((SELECT k.contradicted IS NOT NULL FROM tokens k WHERE k.address = %(address)s), false),
    (SELECT day::text FROM start), (SELECT first_block FROM start),
    (SELECT count(*) FROM moved),
    (SELECT count(*) FROM balances WHERE balance > 0 AND earlier <= 0),
    (SELECT count(*) FROM balances WHERE balance <= 0 AND earlier > 0);
