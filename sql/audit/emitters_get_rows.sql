-- Who emitted logs, to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: block number, address
-- index: log_emitters_by_block
SELECT block_number, address
FROM log_emitters
WHERE block_number BETWEEN %(block_from)s AND %(block_to)s;
