-- Registers a dispatcher as alive, for as long as this session is.
-- params: lease_holder integer
-- returns: one row without a value
-- index: none
SELECT pg_advisory_lock(hashtext('scan.deliverer'), %(lease_holder)s);
