-- Lets contracts that are followed from a block on be followed from an older one, as those after it are removed,
-- and the blocks that replace them are written with their logs.
-- params: last_kept bigint
-- returns: nothing
-- index: none
UPDATE followed_contracts SET complete_from = %(last_kept)s + 1 WHERE complete_from > %(last_kept)s + 1;
