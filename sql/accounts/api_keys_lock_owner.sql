-- One creation at a time for an owner, until the transaction ends. A statement of its own: the
-- next one's snapshot must be taken after the lock, or it would count the keys of before.
-- params: owner bytea
-- returns: nothing of use
-- index: none
SELECT pg_advisory_xact_lock(hashtextextended('api_keys', hashtextextended(hex(%(owner)s), 0)));
