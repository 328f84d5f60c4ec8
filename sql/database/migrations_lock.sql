-- Makes other instances that start now wait until this transaction has migrated the schema.
-- params: none
-- returns: one row without a value
-- index: none
SELECT pg_advisory_xact_lock(hashtextextended('scan.schema', 0));
