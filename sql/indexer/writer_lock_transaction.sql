-- Inside a write: takes the lock of the indexer unless another session has it, as it may after a lost
-- connection.
-- params: none
-- returns: whether this session may write
-- index: none
SELECT pg_try_advisory_xact_lock(hashtextextended('scan.indexer', 0));
