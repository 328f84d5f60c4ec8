-- All columns of uncles, to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: uncles_pkey
SELECT to_jsonb(u)
FROM uncles u
WHERE u.ordinal BETWEEN first_ordinal_in(%(block_from)s) AND last_ordinal_in(%(block_to)s);
