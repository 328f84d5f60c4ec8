-- Removes the tokens of a list except those of `kept`.
-- params: list text, kept bytea[]
-- returns: nothing
-- index: listed_tokens_pkey
DELETE FROM listed_tokens WHERE list = %(list)s AND address <> ALL (%(kept)s::bytea[]);
