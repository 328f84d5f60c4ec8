-- Has tokens read again whose code or implementation may have changed; without addresses, all. It is planned for
-- each call, since a plan for any addresses, and for none, reads all tokens.
-- params: addresses bytea[] null
-- returns: their addresses
-- index: tokens_pkey
UPDATE tokens
SET supply_block = NULL, read_block = NULL
WHERE (%(addresses)s::bytea[] IS NULL OR address = ANY(%(addresses)s::bytea[])) AND ended_in IS NULL
RETURNING address;
