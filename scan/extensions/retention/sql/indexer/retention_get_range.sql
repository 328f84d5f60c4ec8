-- The next blocks whose rows are to be removed, which have about so many transactions.
-- params: transactions bigint
-- returns: no row where there are none; their block_range
-- index: blocks_pkey
SELECT range_of_blocks(r.removed_to, n.bound - 1)::text
FROM retention r
JOIN blocks o ON o.number = r.removed_to
CROSS JOIN LATERAL (
    SELECT least(r.first_block, coalesce((
        SELECT b.number
        FROM blocks b
        WHERE b.number > o.number AND b.number <= o.number + 10000
            AND b.transactions_before >= o.transactions_before + %(transactions)s
        ORDER BY b.number
        LIMIT 1), o.number + 10000)) AS bound
) AS n
WHERE r.removed_to < r.first_block;
