-- The block at which lists begin where not all rows are kept.
-- params: none
-- literals: none
-- returns: no row where all are kept; else its number, its time (ISO 8601)
-- index: blocks_pkey
SELECT r.first_block, iso(b.timestamp)
FROM retention r
JOIN blocks b ON b.number = r.first_block;
