-- Stores a key of no wallet, which an operator makes.
-- params: id bigint, key_hash bytea, key_prefix text, label text, requests_per_minute integer,
--   days integer null (until it ends)
-- returns: its end text or null
-- index: none
INSERT INTO api_keys (id, key_hash, key_prefix, label, requests_per_minute, expires_at)
VALUES (
    %(id)s, %(key_hash)s, %(key_prefix)s, %(label)s, %(requests_per_minute)s,
    now() + %(days)s * interval '1 day')
RETURNING iso(expires_at);
