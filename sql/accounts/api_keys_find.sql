-- The active key that has a hash. It is looked up for every request with a key, unless it is cached.
-- params: hash bytea
-- returns: no row, or id, owner_address (null: of no wallet), requests_per_minute
-- index: api_keys_key_hash_key
SELECT id, owner_address, requests_per_minute
FROM api_keys k
WHERE key_hash = %(hash)s AND is_in_force(k);
