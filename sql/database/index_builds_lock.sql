-- Makes this session the only one that builds indexes. It does not wait: a statement that waits has a
-- snapshot, which CREATE INDEX CONCURRENTLY would wait for in turn.
-- params: none
-- returns: one row: whether it is the only one
-- index: none
SELECT pg_try_advisory_lock(hashtextextended('scan.index_builds', 0));
