-- Messages to L1 to compare with the node, whole: what is not compared is seen, too.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: messages_to_l1_pkey
SELECT to_jsonb(m)
FROM messages_to_l1 m
WHERE m.ordinal BETWEEN first_ordinal_in(%(block_from)s) AND last_ordinal_in(%(block_to)s);
