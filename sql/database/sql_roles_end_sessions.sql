-- Ends sessions of roles of `scan sql-role` that run one statement for longer than the role's
-- statement_timeout, which the role itself may lift, or hold a transaction open: idle for as long, or
-- for ten times as long in all. A cancelled statement could go on, an ended session cannot. Sessions
-- of roles that this one is no member of are left.
-- params: grace_s double precision
-- returns: role, and what its session did
-- index: none
SELECT a.usename, CASE WHEN pg_terminate_backend(a.pid) THEN a.state END
FROM pg_stat_activity a
JOIN pg_roles r ON r.rolname = a.usename
CROSS JOIN LATERAL (
    SELECT split_part(option, '=', 2)::interval AS most
    FROM pg_db_role_setting s
    CROSS JOIN LATERAL unnest(s.setconfig) AS option
    WHERE s.setrole = r.oid AND s.setdatabase = 0 AND option ~ '^statement_timeout=[1-9][0-9]*(ms|s|min)$'
) AS allowed
WHERE shobj_description(r.oid, 'pg_authid') = 'made by scan sql-role'
    AND pg_has_role(r.oid, 'USAGE')
    AND a.datname = current_database() AND a.backend_type = 'client backend'
    AND (
        a.state = 'active' AND now() - a.query_start > allowed.most + %(grace_s)s * interval '1 s'
        OR a.state LIKE 'idle in transaction%%' AND now() - a.state_change > allowed.most
        OR now() - a.xact_start > 10 * allowed.most
    );
