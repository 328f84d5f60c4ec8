-- Rows of execution_requests to compare with the node, whole: what is not compared is seen, too.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: execution_requests_pkey
SELECT to_jsonb(q)
FROM execution_requests q
WHERE q.ordinal BETWEEN first_ordinal_in(%(block_from)s) AND last_ordinal_in(%(block_to)s);
