-- The forms by which logs of some first topics are decoded, and those of anonymous events.
-- params: addresses bytea[], topics text[]
-- returns: addresses, the view's id, its forms as JSON text, whether it is of child contracts
-- index: followed_children_pkey, event_views_by_address
SELECT n.addresses, v.id, v.forms::text, octet_length(v.address) > 20
FROM (
    SELECT followed_as(a.address) AS address, array_agg(a.address) AS addresses
    FROM unnest(%(addresses)s::bytea[]) AS a (address)
    GROUP BY 1
) AS n
JOIN event_views v ON v.address = n.address
WHERE v.topics && array_append(%(topics)s::text[], '')
ORDER BY v.view_name;
