-- The oldest and the newest indexed block.
-- params: none
-- literals: none
-- returns: one row: index version, two block numbers; null where there are none
-- index: blocks_pkey
SELECT index_version(),
    (SELECT min(b.number) FROM blocks b),
    (SELECT max(b.number) FROM blocks b);
