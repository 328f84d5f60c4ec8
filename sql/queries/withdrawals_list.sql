-- Withdrawals of validators and builders to an address, or of all, in the chain's order. Their indexes grow with it, so
-- that those before an index are found by the range of blocks.
-- params: address bytea null, has_address boolean, block_from bigint, block_to bigint, before_index bigint null,
--   direction text, limit integer, offset bigint
-- literals: has_address, direction, limit
-- returns: one row: index version, JSON array of {index, validatorIndex, builderIndex, address, amount, unit,
--   blockNumber, timestamp, seconds} in order, count in it
-- index: withdrawals_of_address, withdrawals_pkey, blocks_pkey
SELECT index_version(),
    json_list(string_agg(
        with_members(withdrawal_record(page.w)::text, format(
            '"blockNumber":%%s,"timestamp":"%%s","seconds":%%s',
            (page.w).block_number, iso(b.timestamp), seconds(b.timestamp))), ',' ORDER BY page.position)),
    count(*)
FROM (
    SELECT ordered.w, row_number() OVER () AS position
    FROM (
        SELECT o AS w
        FROM withdrawals o
        WHERE (NOT %(has_address)s OR o.address = %(address)s)
            AND o.block_number BETWEEN %(block_from)s AND %(block_to)s
            AND o.withdrawal_index < coalesce(%(before_index)s, 9223372036854775807)
        ORDER BY CASE WHEN %(direction)s = 'asc' THEN o.block_number END ASC,
            CASE WHEN %(direction)s = 'asc' THEN o.withdrawal_index END ASC,
            CASE WHEN %(direction)s = 'desc' THEN o.block_number END DESC,
            CASE WHEN %(direction)s = 'desc' THEN o.withdrawal_index END DESC
        LIMIT %(limit)s
        OFFSET %(offset)s
    ) AS ordered
) AS page
JOIN blocks b ON b.number = (page.w).block_number;
