-- Stores a session of a key, of whose others the oldest are removed.
-- params: session_hash bytea, key_id bigint, seconds integer, max_sessions integer
-- returns: nothing
-- index: sessions_pkey, sessions_by_key
WITH oldest AS (
    DELETE FROM sessions
    WHERE hash IN (
        SELECT s.hash
        FROM sessions s
        WHERE s.key_id = %(key_id)s
        ORDER BY s.ends_at DESC, s.hash DESC
        OFFSET %(max_sessions)s - 1)
)
INSERT INTO sessions (hash, key_id, ends_at)
VALUES (%(session_hash)s, %(key_id)s, now() + %(seconds)s * interval '1 second');
