-- Internal transfers of one transaction, by the order of the calls: a part of its block's ordinals.
-- params: hash bytea, form text, direction text, limit integer, offset bigint, after bigint null,
--   seen_block bigint null
-- literals: form, direction, limit
-- returns: one row: index version, data (JSON text; null where no such transaction is indexed),
--   count in data, total, whether its block has or needs no traces (null as data); for cursors:
--   ordinal of the last row where more follow, its block, block seen
-- index: transactions_by_hash, blocks_pkey, internal_transfers_pkey
WITH mined AS MATERIALIZED (
    SELECT t.hash, t.transaction_index, b.timestamp, b.traced IS NOT FALSE AS is_traced,
        block_reference(b), b.internal_transfers_before AS first,
        b.internal_transfers_before + b.internal_transfer_count - 1 AS last
    FROM transactions t
    JOIN blocks b ON b.number = t.block_number
    WHERE t.hash = %(hash)s AND t.block_number >= first_kept_block()
    LIMIT 1
), transfers AS MATERIALIZED (
    SELECT i
    FROM mined, internal_transfers i
    WHERE i.ordinal BETWEEN (SELECT first FROM mined) AND (SELECT last FROM mined)
        AND i.transaction_index = mined.transaction_index
), page AS (
    SELECT transfers.i
    FROM transfers
    WHERE CASE %(direction)s
        WHEN 'asc' THEN (transfers.i).ordinal > coalesce(%(after)s, -1)
        ELSE (transfers.i).ordinal < coalesce(%(after)s, 9223372036854775807) END
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN (transfers.i).ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN (transfers.i).ordinal END DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
)
SELECT index_version(),
    (SELECT json_list((
        SELECT string_agg(CASE %(form)s
            WHEN 'etherscan' THEN etherscan_internal_transfer_record(
                page.i, mined.hash, mined.timestamp)
            ELSE internal_transfer_record(page.i, mined.hash, mined.timestamp) END::text, ',')
        FROM page)) FROM mined),
    (SELECT count(*) FROM page),
    (SELECT count(*) FROM transfers),
    (SELECT is_traced FROM mined),
    (SELECT CASE %(direction)s
            WHEN 'asc' THEN CASE WHEN max((page.i).ordinal) < (
                SELECT max((transfers.i).ordinal) FROM transfers) THEN max((page.i).ordinal) END
            ELSE CASE WHEN min((page.i).ordinal) > (
                SELECT min((transfers.i).ordinal) FROM transfers) THEN min((page.i).ordinal) END END
    FROM page),
    (SELECT block_reference FROM mined),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s);
