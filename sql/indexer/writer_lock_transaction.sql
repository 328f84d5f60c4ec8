-- Inside a write: takes the lock of the indexer unless another session has it, as it may after a lost
-- connection. Waits while indexer/writes_lock is held.
-- params: none
-- literals: none
-- returns: whether this session may write
-- index: none
SELECT CASE WHEN pg_try_advisory_xact_lock(hashtextextended('scan.indexer', 0))
    THEN pg_advisory_xact_lock_shared(hashtextextended('scan.writes', 0)) IS NOT NULL
    ELSE false END;
