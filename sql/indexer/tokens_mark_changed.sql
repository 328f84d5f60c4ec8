-- Has tokens read again whose code or implementation may have changed.
-- params: addresses bytea[]
-- literals: none
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens SET supply_block = NULL, read_block = NULL WHERE address = ANY(%(addresses)s::bytea[]);
