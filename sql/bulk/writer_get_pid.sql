-- This session, in which the writer's lock was taken.
-- params: none
-- returns: process id of the server's process
-- index: none
SELECT pg_backend_pid();
