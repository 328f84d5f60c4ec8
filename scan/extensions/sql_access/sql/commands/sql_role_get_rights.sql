-- The rights besides reading that a read-only role still has, as they could not be revoked; and the server's version.
-- params: name text
-- returns: one row: may_create_temporary_tables boolean, may_create_tables boolean,
--   may_call_routines_of_writers boolean, version integer
-- index: none
SELECT has_database_privilege(%(name)s, current_database(), 'TEMPORARY'),
    has_schema_privilege(%(name)s, 'public', 'CREATE'),
    EXISTS (SELECT FROM routines_of_writers() r
        WHERE has_function_privilege(%(name)s, r, 'EXECUTE')),
    current_setting('server_version_num')::integer;
