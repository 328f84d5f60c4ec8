-- Values of blocks that their lists do not have: sums of their transactions' fees, percentages, and numbers
-- of rows.
-- params: numbers bigint[]
-- literals: none
-- returns: one row: index version, JSON text {number: {seconds, fees, burntFees, tips, reward,
--   uncleInclusionReward, internalTransfers, withdrawals, gasUsedPercentage, gasTargetPercentage,
--   burntFeesPercentage}}; fees are gas used by its price; tips are what of them was not burnt; reward is
--   what the producer got, with that of proof of work, of which 1/32 is for each uncle; the target is half
--   of the limit; internalTransfers is null where they are not known; fees, tips and rewards are null where
--   the rows that say them are not kept
-- index: blocks_pkey, transactions_pkey, credits_pkey, uncles_pkey
SELECT index_version(), coalesce(json_object_agg(s.number, json_build_object(
    'seconds', s.seconds,
    'fees', s.fees::text,
    'burntFees', s.burnt_fees::text,
    'tips', (s.fees - s.burnt_fees)::text,
    'reward', (s.producer_fees + s.mining_reward)::text,
    'uncleInclusionReward', div(s.mining_reward * s.uncles, 32 + s.uncles)::text,
    'internalTransfers', s.internal_transfers,
    'withdrawals', s.withdrawal_count,
    'gasUsedPercentage', s.gas_ratio * 100,
    'gasTargetPercentage', s.gas_ratio * 200 - 100,
    'burntFeesPercentage', round(s.burnt_fees / nullif(s.fees, 0) * 100, 6))), '{}')::text
FROM (
    SELECT b.number, seconds(b.timestamp), b.producer_fees, b.withdrawal_count,
        coalesce(b.burnt_fees, 0) AS burnt_fees,
        coalesce(round(b.gas_used / nullif(b.gas_limit, 0), 8), 0) AS gas_ratio,
        CASE WHEN knows_transfers(b) THEN b.internal_transfer_count END AS internal_transfers,
        CASE WHEN b.number >= first_kept_block() THEN coalesce((
            SELECT sum(t.gas_used * t.gas_price)
            FROM transactions t
            WHERE t.ordinal >= b.transactions_before
                AND t.ordinal < b.transactions_before + b.transaction_count), 0) END AS fees,
        CASE WHEN b.number >= first_kept_block() THEN coalesce((
            SELECT c.amount_wei FROM credits c
            WHERE c.ordinal = first_ordinal_in(b.number) AND c.type = 2), 0) END AS mining_reward,
        (
            SELECT count(*) FROM uncles u
            WHERE u.ordinal BETWEEN first_ordinal_in(b.number) AND last_ordinal_in(b.number)) AS uncles
    FROM blocks b
    WHERE b.number = ANY (%(numbers)s)
) AS s;
