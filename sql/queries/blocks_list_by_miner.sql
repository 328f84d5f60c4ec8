-- Blocks that an address produced, the newest first, with its reward for each.
-- params: miner bytea, limit integer, offset integer, since bigint, before bigint
-- literals: limit
-- returns: one row: index version, JSON array of {number, seconds, block, reward} in order, number of the last
--   row where more follow
-- index: blocks_by_miner, blocks_pkey, credits_pkey
SELECT index_version(),
    json_list(string_agg(format('{"number":%%s,"seconds":%%s,"block":%%s,"reward":"%%s"}',
        page.number, seconds(b.timestamp), block_record(b), b.producer_fees + coalesce((
            SELECT c.amount_wei FROM credits c
            WHERE c.ordinal = first_ordinal_in(b.number) AND c.type = 2), 0)), ','
        ORDER BY page.number DESC)),
    CASE WHEN EXISTS (
        SELECT FROM blocks f
        WHERE f.miner = %(miner)s AND f.number < min(page.number) AND f.number >= %(since)s)
        THEN min(page.number) END
FROM (
    SELECT m.number
    FROM blocks m
    WHERE m.miner = %(miner)s AND m.number >= %(since)s AND m.number < %(before)s
    ORDER BY m.number DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
) AS page
JOIN blocks b ON b.number = page.number;
