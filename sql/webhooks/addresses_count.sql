-- How many addresses the lists of webhooks have, stopped ones, too.
-- params: owner bytea, client_address text null, established_before timestamptz
-- returns: one row: the owner's; those that the client registered for owners without an established key
-- index: webhooks_by_owner, webhooks_with_lists, api_keys_signed_once
SELECT
    (SELECT coalesce(sum(address_count), 0)::bigint
    FROM webhooks
    WHERE owner_address = %(owner)s AND watch_address IS NULL),
    (SELECT coalesce(sum(address_count), 0)::bigint
    FROM webhooks
    WHERE client_address = %(client_address)s::text AND watch_address IS NULL
        AND NOT has_had_key(owner_address, %(established_before)s));
