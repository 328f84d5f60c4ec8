-- Fills later columns of blocks that lack them, and are still those that were fetched: `fetched` has an
-- object for each, of its number, its hash and these columns. A base fee that was not known yet was
-- counted as earned: the producers' sums lose it, and their days burnt it.
-- params: fetched jsonb
-- returns: how many were filled
-- index: blocks_pkey, transactions_pkey, addresses_pkey, daily_stats_first_block_key, daily_stats_pkey
WITH filled AS (
    UPDATE blocks b
    SET base_fee_per_gas = coalesce(b.base_fee_per_gas, f.base_fee_per_gas),
        size = coalesce(b.size, f.size)
    FROM jsonb_populate_recordset(NULL::blocks, %(fetched)s::jsonb) AS f
    JOIN blocks old ON old.number = f.number
    WHERE b.number = f.number
        AND b.hash = f.hash
        AND NOT to_jsonb(b) @> jsonb_strip_nulls(to_jsonb(f))
    RETURNING b.number, b.miner, CASE WHEN old.base_fee_per_gas IS NULL
            THEN b.base_fee_per_gas * b.gas_used END AS burnt,
        CASE WHEN b.base_fee_per_gas IS NOT DISTINCT FROM old.base_fee_per_gas THEN 0
        ELSE producer_fees(b) - producer_fees(old) END AS earned
), corrected AS (
    UPDATE addresses a
    SET net_wei = nullif(coalesce(a.net_wei, 0) + s.earned, 0)
    FROM (SELECT miner, sum(earned) AS earned FROM filled WHERE earned <> 0 GROUP BY miner) AS s
    WHERE a.address = s.miner
), burnt AS (
    UPDATE daily_stats d
    SET burnt_wei = d.burnt_wei + s.burnt
    FROM (
        SELECT counted_day(number) AS day, sum(burnt) AS burnt
        FROM filled
        WHERE burnt > 0
        GROUP BY 1
    ) AS s
    WHERE d.day = s.day
)
SELECT count(*) FROM filled;
