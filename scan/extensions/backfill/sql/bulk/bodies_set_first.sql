-- Notes that blocks are stored from an earlier one on, where they were from the following one on.
-- params: first bigint, following bigint
-- returns: nothing
-- index: bodies_from_pkey
UPDATE bodies_from SET block_number = %(first)s WHERE block_number = %(following)s;
