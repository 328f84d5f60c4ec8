-- DELETE /api/v1/keys/:id: deactivates a key. Its row stays, for its usage and against replays.
-- params: id bigint, owner bytea
-- returns: no row where this owner has no such active key, or its id
-- index: api_keys_pkey
UPDATE api_keys
SET active = false
WHERE id = %(id)s AND owner_address = %(owner)s AND active
RETURNING id;
