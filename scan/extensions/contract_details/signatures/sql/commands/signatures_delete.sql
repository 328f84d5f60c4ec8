-- Removes imported signatures by their selectors.
-- params: selectors bytea[]
-- returns: nothing
-- index: signatures_pkey
DELETE FROM signatures WHERE selector = ANY (%(selectors)s::bytea[]);
