-- What producers earned each day: the newest day first, of a day who produced most blocks.
-- params: miner bytea null, has_miner boolean, date_from date null, date_to date null, after_day integer null,
--   after_blocks bigint null, after_miner bytea null, limit integer, most_days integer
-- literals: has_miner, limit, most_days
-- returns: one row: index version, JSON array of {date, miner, blocks, fees, rewards, earned, burntFees, blobFees}, count in it, and of the last row, where more may follow, days since 1970, blocks (-1 after the
--   whole day) and miner; rewards and earned are null where the rows that say them are not kept
-- index: daily_stats_pkey, blocks_pkey, blocks_by_miner, credits_pkey
WITH days AS MATERIALIZED (
    SELECT d.day, d.first_block, d.last_block
    FROM daily_stats d
    WHERE d.day <= coalesce(least(%(date_to)s, date '1970-01-01' + %(after_day)s::integer), 'infinity')
        AND d.day >= coalesce(%(date_from)s, '-infinity')
    ORDER BY d.day DESC
    LIMIT %(most_days)s
), found AS MATERIALIZED (
    SELECT d.day - date '1970-01-01' AS day, e.*, row_number() OVER () AS position
    FROM (SELECT o.day, o.first_block, o.last_block FROM days o ORDER BY o.day DESC) AS d
    CROSS JOIN LATERAL (
        SELECT g.miner, sum(g.blocks)::bigint AS blocks, sum(g.fees) AS fees, sum(g.burnt) AS burnt,
            sum(g.blobs) AS blobs,
            CASE WHEN d.first_block >= first_kept_block() THEN sum(g.rewards) END AS rewards
        FROM (
            SELECT b.miner, count(*) AS blocks, sum(b.producer_fees) AS fees,
                sum(coalesce(b.burnt_fees, 0) + coalesce(b.blob_fees, 0)) AS burnt,
                sum(coalesce(b.blob_fees, 0)) AS blobs,
                0 AS rewards
            FROM blocks b
            WHERE b.number BETWEEN d.first_block AND d.last_block
                AND (NOT %(has_miner)s OR b.miner = %(miner)s)
            GROUP BY b.miner
            UNION ALL
            SELECT c.address, 0, 0, 0, 0, sum(c.amount_wei)
            FROM credits c
            WHERE c.ordinal BETWEEN first_ordinal_in(d.first_block) AND last_ordinal_in(d.last_block)
                AND c.type IN (2, 3) AND (NOT %(has_miner)s OR c.address = %(miner)s)
            GROUP BY c.address
        ) AS g
        GROUP BY g.miner
        ORDER BY blocks DESC, g.miner
    ) AS e
    WHERE d.day - date '1970-01-01' IS DISTINCT FROM %(after_day)s::integer
        OR e.blocks < %(after_blocks)s OR (e.blocks = %(after_blocks)s AND e.miner > %(after_miner)s)
    LIMIT %(limit)s + 1
), page AS (
    SELECT f.day, f.miner, f.blocks, f.fees, f.burnt, f.blobs, f.rewards, f.position
    FROM found f
    WHERE f.position <= %(limit)s
), following AS (
    SELECT p.day, p.blocks, p.miner FROM page p
    WHERE p.position = %(limit)s AND (SELECT count(*) FROM found) > %(limit)s
    UNION ALL
    SELECT min(d.day) - date '1970-01-01', -1, '\x0000000000000000000000000000000000000000'
    FROM days d
    HAVING count(*) = %(most_days)s AND (SELECT count(*) FROM found) <= %(limit)s
)
SELECT index_version(),
    json_list((
        SELECT string_agg(format('{"date":"%%s","miner":"%%s","blocks":%%s,"fees":"%%s","rewards":%%s,'
            '"earned":%%s,"burntFees":"%%s","blobFees":"%%s"}',
            date '1970-01-01' + p.day, hex(p.miner), p.blocks, p.fees, json_text(p.rewards::text),
            json_text((p.fees + p.rewards)::text), p.burnt, p.blobs), ','
            ORDER BY p.position)
        FROM page p)),
    (SELECT count(*) FROM page), f.day, f.blocks, f.miner
FROM (SELECT) AS one
LEFT JOIN following f ON true;
