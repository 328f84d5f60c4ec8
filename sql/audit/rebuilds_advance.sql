-- Notes the next block whose rows of these tables are to be derived, where no other process has noted another one.
-- params: tables text[], first bigint, next bigint
-- returns: nothing
-- index: table_rebuilds_pkey
UPDATE table_rebuilds SET next_block = %(next)s WHERE name = ANY (%(tables)s::text[]) AND next_block = %(first)s;
