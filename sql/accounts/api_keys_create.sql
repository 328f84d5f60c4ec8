-- Stores a new key, unless its signed request was used before or the owner has enough keys.
-- params: id bigint, owner bytea, signed_at_ms bigint, key_hash bytea, key_prefix text,
--   label text, requests_per_minute integer, max_keys integer
-- returns: replayed boolean, active_keys bigint (before), created boolean
-- index: api_keys_signed_once
WITH existing AS (
    SELECT
        coalesce(bool_or(signed_at_ms = %(signed_at_ms)s), false) AS replayed,
        count(*) FILTER (WHERE active) AS active_keys
    FROM api_keys
    WHERE owner_address = %(owner)s
),
created AS (
    INSERT INTO api_keys
        (id, owner_address, signed_at_ms, key_hash, key_prefix, label, requests_per_minute)
    SELECT
        %(id)s, %(owner)s, %(signed_at_ms)s, %(key_hash)s, %(key_prefix)s, %(label)s,
        %(requests_per_minute)s
    FROM existing
    WHERE NOT replayed AND active_keys < %(max_keys)s
    RETURNING id
)
SELECT replayed, active_keys, EXISTS (SELECT FROM created)
FROM existing;
