-- The numbers of active webhooks of an owner, a watched address and a client.
-- params: owner bytea, watch_address bytea, client_address text null
-- returns: by_owner bigint, by_watch_address bigint, by_client bigint (0 where the client is null)
-- index: webhooks_by_owner, webhooks_by_watch_address, webhooks_by_client_address
SELECT
    (SELECT count(*) FROM webhooks WHERE owner_address = %(owner)s AND active),
    (SELECT count(*) FROM webhooks WHERE watch_address = %(watch_address)s AND active),
    (SELECT count(*) FROM webhooks WHERE client_address = %(client_address)s::text AND active);
