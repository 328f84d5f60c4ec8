-- All columns of withdrawals, to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: withdrawals_pkey
SELECT to_jsonb(w)
FROM withdrawals w
WHERE w.block_number BETWEEN %(block_from)s AND %(block_to)s;
