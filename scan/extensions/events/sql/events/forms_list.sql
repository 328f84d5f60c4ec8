-- The forms by which logs of some first topics are decoded, and those of anonymous events.
-- params: addresses bytea[], topics text[]
-- returns: address, the view's id, its forms as JSON text
-- index: event_views_by_address
SELECT v.address, v.id, v.forms::text
FROM event_views v
WHERE v.address = ANY (%(addresses)s::bytea[]) AND v.topics && array_append(%(topics)s::text[], '')
ORDER BY v.view_name;
