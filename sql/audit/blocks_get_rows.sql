-- All columns of blocks, to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column; the timestamp also in seconds
-- index: blocks_pkey
SELECT to_jsonb(b) || jsonb_build_object('timestamp_s', extract(epoch FROM b.timestamp)::bigint)
FROM blocks b
WHERE b.number BETWEEN %(block_from)s AND %(block_to)s;
