-- Wakes those who deliver, once this transaction is committed.
-- params: none
-- returns: nothing of use
-- index: none
SELECT pg_notify('scan_outbox', '');
