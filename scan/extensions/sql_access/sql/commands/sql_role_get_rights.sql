-- The rights besides reading that a read-only role still has, as they could not be revoked.
-- params: name text
-- returns: one row: may_create_temporary_tables boolean, may_create_tables boolean,
--   may_take_locks boolean
-- index: none
SELECT has_database_privilege(%(name)s, current_database(), 'TEMPORARY'),
    has_schema_privilege(%(name)s, 'public', 'CREATE'),
    has_function_privilege(%(name)s, 'pg_advisory_lock(bigint)', 'EXECUTE');
