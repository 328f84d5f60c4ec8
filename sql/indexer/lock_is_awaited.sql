-- Tells whether another session waits for a lock of this one, as a migration does for a moment at a time.
-- params: none
-- returns: boolean
-- index: none
SELECT EXISTS (
    SELECT FROM pg_locks w
    WHERE NOT w.granted AND pg_backend_pid() = ANY (pg_blocking_pids(w.pid)));
