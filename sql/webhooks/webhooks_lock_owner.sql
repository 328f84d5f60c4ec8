-- One change at a time to how many webhooks an owner has, until the transaction ends. A statement
-- of its own: the next one's snapshot must be taken after the lock.
-- params: owner bytea
-- returns: nothing of use
-- index: none
SELECT pg_advisory_xact_lock(hashtextextended('webhooks', hashtextextended(hex(%(owner)s), 0)));
