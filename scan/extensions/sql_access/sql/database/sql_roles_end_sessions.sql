-- Ends sessions of roles of `scan sql-role` that run one statement for longer than the statement_timeout
-- the role was made with, or hold a transaction open: idle for as long, or for ten times as long in all. A
-- role may lift its statement_timeout, in a session and by ALTER ROLE, but not change the comment on
-- itself. A session is ended, as it could go on after a cancelled statement. This includes sessions in
-- other databases of the server, but not those of roles that this one is no member of.
-- params: grace_s double precision
-- returns: role, state of the session that was ended
-- index: none
SELECT a.usename, CASE WHEN pg_terminate_backend(a.pid) THEN a.state END
FROM pg_stat_activity a
CROSS JOIN LATERAL (
    SELECT substring(shobj_description(a.usesysid, 'pg_authid')
        FROM '^made by scan sql-role, statement_timeout=([0-9]+(?:ms|s|min))$')::interval AS most
) AS allowed
WHERE allowed.most IS NOT NULL AND pg_has_role(a.usesysid, 'USAGE')
    AND a.backend_type = 'client backend'
    AND (
        a.state = 'active' AND now() - a.query_start > allowed.most + %(grace_s)s * interval '1 s'
        OR a.state LIKE 'idle in transaction%%' AND now() - a.state_change > allowed.most
        OR now() - a.xact_start > 10 * allowed.most
    );
