-- Deactivates keys of any owners. Their rows stay, for their usage and against replays.
-- params: ids bigint[]
-- returns: id bigint of each that was active
-- index: api_keys_pkey
UPDATE api_keys
SET active = false
WHERE id = ANY (%(ids)s::bigint[]) AND active
RETURNING id;
