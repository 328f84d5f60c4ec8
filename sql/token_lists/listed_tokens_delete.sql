-- Removes the tokens of a list, but for some.
-- params: list text, kept bytea[]
-- returns: nothing
-- index: listed_tokens_pkey
DELETE FROM listed_tokens WHERE list = %(list)s AND address <> ALL (%(kept)s::bytea[]);
