-- The oldest block whose rows are not removed, and the newest one.
-- params: none
-- returns: no row when nothing is indexed; else two block numbers
-- index: blocks_pkey
SELECT greatest(min(number), (SELECT removed_to FROM retention)), max(number)
FROM blocks
HAVING count(*) > 0;
