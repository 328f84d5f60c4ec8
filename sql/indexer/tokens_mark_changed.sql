-- Has tokens read again whose code or implementation may have changed; without addresses, all. It is planned for
-- each call, since a plan for any addresses, and for none, reads all tokens. Where they are `compared` anew, whether
-- their events add up is found out again, too.
-- params: addresses bytea[] null, compared boolean
-- returns: their addresses
-- index: tokens_pkey
UPDATE tokens
SET supply_block = NULL, read_block = NULL,
    inconsistent_since = CASE WHEN NOT %(compared)s THEN inconsistent_since END,
    contradicted = CASE WHEN NOT %(compared)s THEN contradicted END
WHERE (%(addresses)s::bytea[] IS NULL OR address = ANY(%(addresses)s::bytea[])) AND ended_in IS NULL
RETURNING address;
