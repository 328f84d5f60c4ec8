-- Withdrawals to compare with the node, whole: what is not compared is seen, too.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: withdrawals_pkey
SELECT to_jsonb(w)
FROM withdrawals w
WHERE w.block_number BETWEEN %(block_from)s AND %(block_to)s;
