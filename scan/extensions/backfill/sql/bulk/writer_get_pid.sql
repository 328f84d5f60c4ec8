-- The server's process of this session, which took the writer's lock.
-- params: none
-- returns: process id
-- index: none
SELECT pg_backend_pid();
