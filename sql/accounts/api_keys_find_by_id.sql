-- The active key of a session, by its id. It is looked up for every request with one, unless it is cached.
-- params: id bigint
-- returns: no row, or id, owner_address (null: of no wallet), requests_per_minute, key_hash
-- index: api_keys_pkey
SELECT id, owner_address, requests_per_minute, key_hash
FROM api_keys
WHERE id = %(id)s AND active AND (expires_at IS NULL OR expires_at > now());
