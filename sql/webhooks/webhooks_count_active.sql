-- The numbers of active webhooks of an owner, a watched address (null: a list) and a client, but for the last two
-- without the own ones of addresses that have a key.
-- params: owner bytea, watch_address bytea null, client_address text null, established_before timestamptz
-- returns: by_owner bigint; of the watched address, others' and those of them from the client's address; all
--   from there of owners without an established key; whether it is an own one, and the owner has such a key
-- index: webhooks_by_owner, webhooks_by_watch_address, webhooks_by_client_address, api_keys_signed_once
SELECT
    (SELECT count(*) FROM webhooks WHERE owner_address = %(owner)s AND active),
    count(o),
    count(o) FILTER (WHERE o.client_address = %(client_address)s),
    (
        SELECT count(*)
        FROM webhooks w
        WHERE w.client_address = %(client_address)s::text AND w.active
            AND NOT has_had_key(w.owner_address, CASE
                WHEN w.owner_address = w.watch_address THEN 'infinity'
                ELSE %(established_before)s::timestamptz END)
    ),
    coalesce(%(owner)s = %(watch_address)s::bytea, false) AND has_had_key(%(owner)s, 'infinity'),
    has_had_key(%(owner)s, %(established_before)s)
FROM webhooks o
WHERE o.watch_address = %(watch_address)s AND o.active
    AND NOT (o.owner_address = o.watch_address AND has_had_key(o.owner_address, 'infinity'));
