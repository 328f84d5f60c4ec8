-- Tells whoever keeps answers in memory that what is indexed changes with this transaction.
-- params: none
-- returns: nothing of use
-- index: chain_pkey
UPDATE chain SET version = version + 1 RETURNING pg_notify('scan_chain', version::text);
