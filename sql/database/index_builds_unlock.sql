-- Lets other sessions build indexes.
-- params: none
-- returns: one row: true
-- index: none
SELECT pg_advisory_unlock(hashtextextended('scan.index_builds', 0));
