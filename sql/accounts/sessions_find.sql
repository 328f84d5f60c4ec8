-- The active key of a session, by the hash of its secret. It is looked up for every request with one, unless it is
-- cached.
-- params: hash bytea
-- returns: no row, or id, owner_address (null: of no wallet), requests_per_minute
-- index: sessions_pkey, api_keys_pkey
SELECT k.id, k.owner_address, k.requests_per_minute
FROM sessions s
JOIN api_keys k ON k.id = s.key_id
WHERE s.hash = %(hash)s AND s.ends_at > now() AND is_in_force(k);
