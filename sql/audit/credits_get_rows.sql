-- All columns of credits, to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: credits_pkey
SELECT to_jsonb(c)
FROM credits c
WHERE c.ordinal BETWEEN first_ordinal_in(%(block_from)s) AND last_ordinal_in(%(block_to)s);
