-- Makes other instances that start now wait until this transaction has brought the schema up.
-- params: none
-- returns: nothing of use
-- index: none
SELECT pg_advisory_xact_lock(hashtextextended('scan.schema', 0));
