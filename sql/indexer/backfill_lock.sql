-- Inside a transaction: the indexer writes or unwinds no blocks while a backfill fills columns of rows,
-- and corrects sums of addresses by them.
-- params: none
-- returns: nothing of use
-- index: none
SELECT pg_advisory_xact_lock(hashtextextended('scan.unwind', 0));
