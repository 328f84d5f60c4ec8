-- One change at a time to how many active webhooks an owner, a watched address and a client have,
-- until the transaction ends; everybody takes the locks in this order. A statement of its own: the
-- next one's snapshot must be taken after the locks.
-- params: owner bytea, watch_address bytea, client_address text null
-- returns: nothing of use
-- index: none
SELECT
    pg_advisory_xact_lock(hashtextextended('webhooks', hashtextextended(hex(%(owner)s), 0))),
    pg_advisory_xact_lock(
        hashtextextended('webhooks watched', hashtextextended(hex(%(watch_address)s), 0))),
    pg_advisory_xact_lock(
        hashtextextended('webhooks client', hashtextextended(%(client_address)s::text, 0)));
