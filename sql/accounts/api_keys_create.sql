-- Stores a new key, unless its signed request was used before or the owner has enough keys. One that is made by another
-- key ends with what that one ends with, or with that one; of the same owner it is as lasting as that one was made.
-- params: id bigint, owner bytea, signed_at_ms bigint, key_hash bytea, key_prefix text,
--   label text, requests_per_minute integer, max_keys integer, maker_key bigint null, maker_user text null
-- returns: replayed boolean, active_keys bigint (before), created boolean
-- index: api_keys_signed_once, api_keys_pkey
WITH existing AS (
    SELECT
        coalesce(bool_or(signed_at_ms = %(signed_at_ms)s), false) AS replayed,
        count(*) FILTER (WHERE is_in_force(k)) AS active_keys
    FROM api_keys k
    WHERE owner_address = %(owner)s
),
created AS (
    INSERT INTO api_keys
        (id, owner_address, signed_at_ms, key_hash, key_prefix, label, requests_per_minute, maker_key, maker_user)
    SELECT
        %(id)s, %(owner)s, %(signed_at_ms)s, %(key_hash)s, %(key_prefix)s, %(label)s,
        %(requests_per_minute)s,
        coalesce(m.maker_key, CASE WHEN m.maker_user IS NULL AND m.owner_address IS DISTINCT FROM %(owner)s THEN m.id END),
        coalesce(%(maker_user)s, m.maker_user)
    FROM existing
    LEFT JOIN api_keys m ON m.id = %(maker_key)s
    WHERE NOT replayed AND active_keys < %(max_keys)s
    RETURNING id
)
SELECT replayed, active_keys, EXISTS (SELECT FROM created)
FROM existing;
