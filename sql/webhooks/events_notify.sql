-- Notifies every dispatcher that queues have changed, once this transaction is committed.
-- params: none
-- returns: one row without a value
-- index: none
SELECT pg_notify('scan_outbox', '');
