-- Lets contracts that are followed from a block on be followed from an older one, as those after it are removed,
-- and the blocks that replace them are written with their logs; and forgets those that removed logs named.
-- params: last_kept bigint
-- returns: nothing
-- index: followed_children_by_contract
WITH removed AS (
    DELETE FROM followed_children c USING followed_contracts f
    WHERE f.factory IS NOT NULL AND c.followed_as = f.address AND c.block_number > %(last_kept)s
)
UPDATE followed_contracts SET complete_from = %(last_kept)s + 1
WHERE complete_from > %(last_kept)s + 1 AND complete_from < 9223372036854775807;
