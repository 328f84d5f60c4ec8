-- Credits to compare with the node, whole: what is not compared is seen, too.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: credits_pkey
SELECT to_jsonb(c)
FROM credits c
WHERE c.ordinal BETWEEN credit_ordinal(%(block_from)s) AND credit_ordinal(%(block_to)s) + 1048575;
