-- The name that a session has, which ends with the number of the step that it is at.
-- params: session text
-- returns: one row, or none where no session has such a name: its name
SELECT a.application_name
FROM pg_stat_activity a
WHERE starts_with(a.application_name, %(session)s);
