-- Waits for the write of the indexer that runs, and holds up further ones until the transaction ends.
-- params: none
-- returns: one row without a value
-- index: none
SELECT pg_advisory_xact_lock(hashtextextended('scan.writes', 0));
