-- Rows of blobs to compare with the node, whole: what is not compared is seen, too.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: blobs_pkey
SELECT to_jsonb(o)
FROM blobs o
WHERE o.ordinal BETWEEN first_ordinal_in(%(block_from)s) AND last_ordinal_in(%(block_to)s);
