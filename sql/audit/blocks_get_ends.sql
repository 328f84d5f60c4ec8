-- The oldest and the newest block indexed.
-- params: none
-- returns: no row when nothing is indexed; else two block numbers
-- index: blocks_pkey
SELECT min(number), max(number) FROM blocks HAVING count(*) > 0;
