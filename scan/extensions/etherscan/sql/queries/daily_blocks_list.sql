-- What the blocks of each day of a range have together, oldest first; days without blocks are left out.
-- params: date_from date, date_to date, most integer
-- literals: none
-- returns: one row: index version, JSON text, null where the days have more than `most` blocks: an array of {date,
--   size, gasLimit: means; utilization: gas used by the limits, from 0 to 1; uncles: their number; rewards,
--   uncleRewards: what mining paid, in all and to uncles' miners, without fees}; size is null where that of a block
--   is not known, rewards where the rows that say them are not kept
-- index: daily_stats_pkey, blocks_pkey, credits_pkey, uncles_pkey
WITH days AS MATERIALIZED (
    SELECT s.day, s.first_block, s.last_block,
        sum(s.last_block - s.first_block + 1) OVER () <= %(most)s AS are_few
    FROM daily_stats s
    WHERE s.day BETWEEN %(date_from)s AND %(date_to)s
)
SELECT index_version(), CASE WHEN NOT EXISTS (SELECT FROM days d WHERE NOT d.are_few)
    THEN coalesce(json_agg(json_build_object(
        'date', d.day,
        'size', b.size,
        'gasLimit', b.gas_limit::text,
        'utilization', b.utilization::text,
        'uncles', u.count,
        'rewards', c.all_rewards::text,
        'uncleRewards', c.uncle_rewards::text
    ) ORDER BY d.day), '[]') END::text
FROM days d
CROSS JOIN LATERAL (
    SELECT CASE WHEN count(b.size) = count(*) THEN round(avg(b.size))::bigint END AS size,
        round(avg(b.gas_limit)) AS gas_limit,
        round(sum(b.gas_used) / nullif(sum(b.gas_limit), 0), 4) AS utilization
    FROM blocks b
    WHERE d.are_few AND b.number BETWEEN d.first_block AND d.last_block
) AS b
LEFT JOIN LATERAL (
    SELECT coalesce(sum(c.amount_wei), 0) AS all_rewards,
        coalesce(sum(c.amount_wei) FILTER (WHERE c.type = 3), 0) AS uncle_rewards
    FROM credits c
    WHERE d.are_few AND c.type IN (2, 3)
        AND c.ordinal BETWEEN first_ordinal_in(d.first_block) AND last_ordinal_in(d.last_block)
    HAVING d.first_block >= first_kept_block()
) AS c ON true
CROSS JOIN LATERAL (
    SELECT count(*)
    FROM uncles u
    WHERE d.are_few AND u.ordinal BETWEEN first_ordinal_in(d.first_block) AND last_ordinal_in(d.last_block)
) AS u;
