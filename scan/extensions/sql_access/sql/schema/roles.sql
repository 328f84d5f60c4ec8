-- Roles of the database.

-- PostgreSQL's functions, all overloads, that every role may call by default and a read-only one should not: to
-- take the locks of the indexer, to notify in its name, and to fill the disk with large objects and WAL. Those
-- that use up transaction ids are not among them: clients call txid_current(), and NOTIFY, which needs no right,
-- takes one as well.
CREATE OR REPLACE FUNCTION routines_of_writers() RETURNS SETOF regprocedure LANGUAGE sql STABLE AS $$
    SELECT p.oid::regprocedure FROM pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace
        AND p.proname ~ '^(pg_(try_)?advisory|pg_notify$|pg_logical_emit|lo_creat|lo_from_bytea)'
$$;

-- Revokes these and other rights that every role has by default, such as to fill the disk with temporary tables.
-- Roles that write the chain or labels keep them.
CREATE OR REPLACE FUNCTION revoke_public_rights() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    writer name;
    routine regprocedure;
    is_superuser boolean := (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
    routines regprocedure[] := ARRAY(
        SELECT r FROM routines_of_writers() r
        WHERE is_superuser AND has_function_privilege('public', r, 'EXECUTE'));
BEGIN
    FOR writer IN
        SELECT r.rolname FROM pg_roles r
        WHERE NOT r.rolsuper AND (has_table_privilege(r.oid, 'chain', 'INSERT')
            OR has_table_privilege(r.oid, 'labels', 'INSERT'))
    LOOP
        EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO %I', current_database(), writer);
        IF has_schema_privilege('public', 'public', 'CREATE') THEN
            EXECUTE format('GRANT CREATE ON SCHEMA public TO %I', writer);
        END IF;
        FOREACH routine IN ARRAY routines LOOP
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', routine, writer);
        END LOOP;
    END LOOP;
    -- Who does not own them is given a warning, and nothing is revoked.
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    FOREACH routine IN ARRAY routines LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', routine);
    END LOOP;
END
$$;

-- Makes a role for `scan sql-role`. The tables it may read are listed, so that a new table is not readable
-- by accident.
CREATE OR REPLACE FUNCTION create_reading_role(name text, password text, statement_timeout text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user) THEN
        RAISE insufficient_privilege USING HINT = format(
            'The role %I may not create roles. Let a superuser run: ALTER ROLE %I CREATEROLE',
            current_user, current_user);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = name) THEN
        EXECUTE format('CREATE ROLE %I', name);
    ELSIF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = name
        AND shobj_description(r.oid, 'pg_authid') LIKE 'made by scan sql-role%') THEN
        RAISE insufficient_privilege USING HINT = format(
            'There is a role %s already, which scan sql-role has not made.', name);
    END IF;
    -- Unlike its own setting, a role cannot change this: see database/sql_roles_end_sessions.
    EXECUTE format('COMMENT ON ROLE %I IS %L', name,
        'made by scan sql-role, statement_timeout=' || statement_timeout);
    -- Whose member may end its sessions.
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        EXECUTE format('GRANT %I TO %I', name, current_user);
    END IF;
    PERFORM revoke_public_rights();
    EXECUTE format('ALTER ROLE %I LOGIN PASSWORD %L CONNECTION LIMIT 4', name, password);
    EXECUTE format('ALTER ROLE %I SET default_transaction_read_only = on', name);
    EXECUTE format('ALTER ROLE %I SET statement_timeout = %L', name, statement_timeout);
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        EXECUTE format('ALTER ROLE %I SET temp_file_limit = %L', name, '10GB');
    END IF;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), name);
    EXECUTE format('GRANT USAGE ON SCHEMA public, v1 TO %I', name);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA v1 TO %I', name);
    IF to_regnamespace('events') IS NOT NULL THEN -- events of followed contracts
        EXECUTE format('GRANT USAGE ON SCHEMA events TO %I', name);
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA events TO %I', name);
    END IF;
    EXECUTE format(
        'GRANT SELECT ON addresses, blocks, chain, codes, contract_changes, contracts, credits, daily_stats, dexes,'
        ' event_topics, item_balances, labels, list_counts, pools, token_holders, token_items, tokens,'
        ' uncles, verified_contracts, withdrawals, %s TO %I',
        array_to_string(entity_tables(), ', '), name);
END
$$;
