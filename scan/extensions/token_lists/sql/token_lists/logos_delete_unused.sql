-- Removes logos that no token has.
-- params: none
-- returns: nothing
-- index: logos_pkey
DELETE FROM logos g WHERE NOT EXISTS (SELECT FROM listed_tokens t WHERE t.logo = g.digest);
