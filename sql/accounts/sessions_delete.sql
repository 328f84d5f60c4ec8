-- Ends a session.
-- params: session_hash bytea
-- returns: nothing
-- index: sessions_pkey
DELETE FROM sessions WHERE hash = %(session_hash)s;
