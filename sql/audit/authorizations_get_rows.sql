-- Authorizations to compare with the node, whole: what is not compared is seen, too.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: authorizations_pkey
SELECT to_jsonb(a)
FROM authorizations a
WHERE a.ordinal BETWEEN first_ordinal_in(%(block_from)s) AND last_ordinal_in(%(block_to)s);
