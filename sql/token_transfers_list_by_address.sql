-- Token transfers that an address sent or received; from, to and token narrow them.
-- A filter by one key alone starts at the checkpoint of `list` and `key` that is nearest to offset;
-- other combinations pass list as null and take the narrowest index.
-- params: address bytea, from bytea null, to bytea null, token bytea null, block_from bigint, block_to bigint,
--   list text null, key bytea null, direction text, limit integer, offset bigint
-- returns: one row: data (JSON text), count in data, total of the list where list is given
-- index: token_transfers_by_from, token_transfers_by_to, list_checkpoints_pkey,
--   transactions_pkey, tokens_pkey, blocks_pkey
WITH entries AS (
    SELECT transfer_count AS total FROM addresses WHERE address = %(key)s
), start AS (
    SELECT s.*
    FROM entries, list_start(%(list)s, %(key)s, entries.total, %(offset)s, %(direction)s) AS s
)
SELECT coalesce(json_agg(token_transfer_record(page.x,
        (SELECT t.hash FROM transactions t WHERE t.block_number = (page.x).block_number
            AND t.transaction_index = (page.x).transaction_index),
        (SELECT k.type FROM tokens k WHERE k.address = (page.x).token_address),
        (SELECT b.timestamp FROM blocks b WHERE b.number = (page.x).block_number))), '[]')::text,
    count(page.x),
    coalesce((SELECT total FROM entries), 0)
FROM (
    SELECT x
    FROM token_transfers_of(%(address)s::bytea) x
    WHERE (%(from)s::bytea IS NULL OR x.from_address = %(from)s)
        AND (%(to)s::bytea IS NULL OR x.to_address = %(to)s)
        AND (%(token)s::bytea IS NULL OR x.token_address = %(token)s)
        AND x.block_number >= %(block_from)s AND x.block_number <= %(block_to)s
        AND (%(direction)s <> 'desc' OR (x.block_number, x.log_index, x.batch_index)
            <= (coalesce((SELECT block_number FROM start), 9223372036854775807), coalesce((SELECT position_ FROM start), 2147483647), coalesce((SELECT batch_index FROM start), 2147483647)))
        AND (%(direction)s <> 'asc' OR (x.block_number, x.log_index, x.batch_index)
            >= (coalesce((SELECT block_number FROM start), -1), coalesce((SELECT position_ FROM start), -1), coalesce((SELECT batch_index FROM start), -1)))
    ORDER BY
        CASE WHEN %(direction)s = 'asc' THEN x.block_number END ASC,
        CASE WHEN %(direction)s = 'asc' THEN x.log_index END ASC,
        CASE WHEN %(direction)s = 'asc' THEN x.batch_index END ASC,
        CASE WHEN %(direction)s = 'desc' THEN x.block_number END DESC,
        CASE WHEN %(direction)s = 'desc' THEN x.log_index END DESC,
        CASE WHEN %(direction)s = 'desc' THEN x.batch_index END DESC
    LIMIT %(limit)s
    OFFSET coalesce((SELECT pass FROM start), %(offset)s)
) AS page;
