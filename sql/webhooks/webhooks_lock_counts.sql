-- Lets one transaction at a time change how many active webhooks an owner, a watched address and a client
-- have, and how much the lists from its network cost. Every transaction takes the locks in this order. It is a statement of its own because the snapshot
-- of the next one must be taken after the locks.
-- params: owner bytea, watch_address bytea null, client_address text null
-- returns: one row without a value
-- index: none
SELECT
    pg_advisory_xact_lock(hashtextextended('webhooks', hashtextextended(hex(%(owner)s), 0))),
    pg_advisory_xact_lock(
        hashtextextended('webhooks watched', hashtextextended(hex(%(watch_address)s::bytea), 0))),
    pg_advisory_xact_lock(
        hashtextextended('webhooks client', hashtextextended(client_network(%(client_address)s::text), 0)));
