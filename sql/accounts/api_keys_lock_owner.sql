-- Lets one transaction at a time create a key for an owner. It is a statement of its own because the
-- snapshot of the next one must be taken after the lock, or it would miss keys just created.
-- params: owner bytea
-- returns: one row without a value
-- index: none
SELECT pg_advisory_xact_lock(hashtextextended('api_keys', hashtextextended(hex(%(owner)s), 0)));
