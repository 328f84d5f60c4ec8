-- Notifies every dispatcher that queues have changed, once this transaction is committed.
-- params: none
-- returns: nothing of use
-- index: none
SELECT pg_notify('scan_outbox', '');
