-- Makes this session the only indexer, until it ends.
-- params: none
-- returns: whether it now is; false while another session is the indexer
-- index: none
SELECT pg_try_advisory_lock(hashtextextended('scan.indexer', 0));
