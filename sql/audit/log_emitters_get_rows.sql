-- All columns of emitters of logs, to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: log_emitters_by_block
SELECT to_jsonb(e)
FROM log_emitters e
WHERE e.block_number BETWEEN %(block_from)s AND %(block_to)s;
