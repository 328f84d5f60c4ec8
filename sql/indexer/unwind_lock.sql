-- Inside a transaction: none unwinds blocks while another fills columns of their rows.
-- params: none
-- returns: nothing of use
-- index: none
SELECT pg_advisory_xact_lock(hashtextextended('scan.unwind', 0));
