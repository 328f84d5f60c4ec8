-- Inside a transaction: keeps the indexer from writing or unwinding blocks while a backfill fills columns
-- of rows, and corrects sums of addresses by them.
-- params: none
-- returns: one row without a value
-- index: none
SELECT pg_advisory_xact_lock(hashtextextended('scan.unwind', 0));
