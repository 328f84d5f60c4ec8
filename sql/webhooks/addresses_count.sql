-- What the lists of webhooks have, stopped ones, too, with a new one of so many addresses, if there is one.
-- params: owner bytea, client_address text null, new_addresses integer null, event_types text[]
-- returns: one row: how many addresses those of the owner have; what those from the client's network cost, and all others
-- index: webhooks_with_lists
SELECT coalesce(sum(address_count) FILTER (WHERE owner_address = %(owner)s), 0) + coalesce(%(new_addresses)s, 0),
    coalesce(sum(cost) FILTER (WHERE is_of_network), 0)
        + CASE WHEN %(new_addresses)s IS NULL THEN 0 ELSE list_cost(%(new_addresses)s, %(event_types)s) END,
    coalesce(sum(cost) FILTER (WHERE NOT is_of_network), 0)
FROM (
    SELECT owner_address, address_count, list_cost(address_count, event_types) AS cost,
        client_network(client_address) IS NOT DISTINCT FROM client_network(%(client_address)s::text) AS is_of_network
    FROM webhooks
    WHERE watch_address IS NULL) AS lists;
