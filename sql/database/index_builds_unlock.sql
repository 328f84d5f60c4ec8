-- Lets other sessions build indexes.
-- params: none
-- returns: nothing of use
-- index: none
SELECT pg_advisory_unlock(hashtextextended('scan.index_builds', 0));
