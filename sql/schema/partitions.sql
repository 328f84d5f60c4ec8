-- Partitions of the long tables.

-- Partitions of transactions, token_transfers, internal_transfers, dex_trades and logs, by ordinal. Such
-- a table is a plain one until it nears SCAN_PARTITION_ROWS rows; then the indexer makes it the first
-- partition, <table>_0, of a partitioned table that takes its name. Later partitions are named by their
-- first ordinal and made ahead. See docs/growing.md.
--
-- An object that depends on a table but would not follow its name to a partitioned one; null: none.
CREATE OR REPLACE FUNCTION partition_obstacle(source pg_class) RETURNS text LANGUAGE sql STABLE
RETURN (SELECT 'it has ' || string_agg(DISTINCT o.name, ', ')
    FROM (
        SELECT format('materialized view %s', v.oid::regclass) AS name
        FROM pg_depend d
        JOIN pg_rewrite r ON r.oid = d.objid
        JOIN pg_class v ON v.oid = r.ev_class AND v.relkind = 'm'
        WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
            AND d.refobjid = (source).oid
        UNION ALL
        SELECT format('trigger %I', t.tgname) FROM pg_trigger t
        WHERE t.tgrelid = (source).oid AND NOT t.tgisinternal
        UNION ALL
        SELECT format('foreign key %I', k.conname) FROM pg_constraint k
        WHERE k.contype = 'f' AND (source).oid IN (k.conrelid, k.confrelid)
        UNION ALL
        SELECT format('rule %I', r.rulename) FROM pg_rewrite r WHERE r.ev_class = (source).oid
        UNION ALL
        SELECT 'row security' WHERE (source).relrowsecurity
        UNION ALL
        SELECT 'a replica identity' WHERE (source).relreplident <> 'd'
        UNION ALL
        SELECT 'inheritance' FROM pg_inherits i WHERE (source).oid IN (i.inhrelid, i.inhparent)
        UNION ALL
        SELECT 'another owner' WHERE NOT pg_has_role((source).relowner, 'USAGE')
    ) AS o);

-- The functions of a table's row type, those whose parsed body reads it, and those that use these, in an
-- order in which they can be made again.
CREATE OR REPLACE FUNCTION dependent_functions(source pg_class) RETURNS oid[] LANGUAGE sql STABLE AS $$
    WITH RECURSIVE dependent AS (
        SELECT d.objid, 1 AS depth
        FROM pg_depend d
        WHERE d.classid = 'pg_proc'::regclass
            AND ((d.refclassid = 'pg_class'::regclass AND d.refobjid = (source).oid)
                OR (d.refclassid = 'pg_type'::regclass AND d.refobjid IN (
                    SELECT t.oid FROM pg_type t
                    WHERE t.oid = (source).reltype OR t.typelem = (source).reltype)))
        UNION
        SELECT d.objid, u.depth + 1
        FROM dependent u
        JOIN pg_depend d ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = u.objid
            AND d.classid = 'pg_proc'::regclass
    )
    SELECT array_agg(f.objid ORDER BY f.depth, f.objid)
    FROM (SELECT objid, max(depth) AS depth FROM dependent GROUP BY objid) AS f
$$;

-- Makes a plain table the first partition, of the ordinals below `bound`, without reading it: a valid
-- constraint <table>_bound says so already. Objects that refer to the table by its number and not by its
-- name are made again: views, functions of its row type, rights, publications. Returns null, or the reason
-- for which it cannot be done, with nothing changed.
CREATE OR REPLACE FUNCTION partition_table(long_table text, bound bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    source pg_class;
    parent text;
    part text;
    functions oid[];
    outdated text;
    statement text;
    statements text[];
BEGIN
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', long_table);
    SELECT c.* INTO STRICT source FROM pg_class c WHERE c.oid = to_regclass(quote_ident(long_table));
    IF source.relkind = 'p' THEN
        RETURN NULL;
    ELSIF partition_obstacle(source) IS NOT NULL THEN
        RETURN partition_obstacle(source);
    END IF;
    parent := format('%s.%I', source.relnamespace::regnamespace, long_table);
    part := format('%s.%I', source.relnamespace::regnamespace, long_table || '_0');
    functions := dependent_functions(source);
    statements := ARRAY(
        SELECT s.text
        FROM (
            SELECT 1 AS step, 0::bigint AS number,
                format('ALTER TABLE %s OWNER TO %s', parent, source.relowner::regrole) AS text
            WHERE source.relowner::regrole::text <> quote_ident(current_user)
            UNION ALL
            SELECT 2, a.attnum, format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', parent,
                a.attname, a.attstattarget)
            FROM pg_attribute a
            WHERE a.attrelid = source.oid AND a.attnum > 0 AND NOT a.attisdropped
                AND a.attstattarget >= 0
            UNION ALL
            SELECT 3, 0, format('COMMENT ON TABLE %s IS %L', parent,
                obj_description(source.oid, 'pg_class'))
            WHERE obj_description(source.oid, 'pg_class') IS NOT NULL
            UNION ALL
            SELECT 4, i.indexrelid::bigint, CASE WHEN k.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
                ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s', parent, k.conname,
                    pg_get_constraintdef(k.oid)) END
            FROM pg_index i
            LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid
            WHERE i.indrelid = source.oid AND i.indisvalid
            UNION ALL
            SELECT 5, 0, format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (0) TO (%s)', parent,
                part, bound)
            UNION ALL
            SELECT 6, 0, format('ALTER TABLE %s DROP CONSTRAINT %I', part, long_table || '_bound')
            UNION ALL
            SELECT 7, f.number, pg_get_functiondef(f.oid)
            FROM unnest(functions) WITH ORDINALITY AS f(oid, number)
            UNION ALL
            SELECT 8, p.oid::bigint, format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', n.name)
            FROM pg_proc p
            CROSS JOIN LATERAL (SELECT format('%s.%I(%s)', p.pronamespace::regnamespace, p.proname,
                pg_get_function_identity_arguments(p.oid)) AS name) AS n
            WHERE p.oid = ANY (functions) AND p.proacl IS NOT NULL
            UNION ALL
            SELECT 9, 0, format('GRANT %s%s ON %s TO %s%s', g.privilege_type, o.part, o.name,
                CASE WHEN g.grantee = 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END,
                CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
            FROM (
                SELECT source.relacl AS acl, '' AS part, parent AS name, source.relowner AS owner
                UNION ALL
                SELECT a.attacl, format(' (%I)', a.attname), parent, source.relowner
                FROM pg_attribute a
                WHERE a.attrelid = source.oid AND NOT a.attisdropped
                UNION ALL
                SELECT p.proacl, '', format('FUNCTION %s.%I(%s)', p.pronamespace::regnamespace,
                    p.proname, pg_get_function_identity_arguments(p.oid)), NULL
                FROM pg_proc p
                WHERE p.oid = ANY (functions)
            ) AS o
            CROSS JOIN LATERAL aclexplode(o.acl) AS g
            WHERE g.grantee IS DISTINCT FROM o.owner
            UNION ALL
            SELECT 10, v.oid::bigint, format('CREATE OR REPLACE VIEW %s%s AS %s', v.oid::regclass,
                ' WITH (' || array_to_string(v.reloptions, ', ') || ')', pg_get_viewdef(v.oid))
            FROM pg_class v
            WHERE v.relkind = 'v' AND EXISTS (
                SELECT FROM pg_depend d
                JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class = v.oid
                WHERE d.classid = 'pg_rewrite'::regclass
                    AND ((d.refclassid = 'pg_class'::regclass AND d.refobjid = source.oid)
                        OR (d.refclassid = 'pg_type'::regclass AND d.refobjid = source.reltype)
                        OR (d.refclassid = 'pg_proc'::regclass AND d.refobjid = ANY (functions))))
            UNION ALL
            SELECT 11, q.oid::bigint, format('ALTER PUBLICATION %I DROP TABLE %s', q.pubname, part)
            FROM pg_publication_rel r
            JOIN pg_publication q ON q.oid = r.prpubid
            WHERE r.prrelid = source.oid
            UNION ALL
            SELECT 12, q.oid::bigint, format('ALTER PUBLICATION %I SET (publish_via_partition_root = true)',
                q.pubname)
            FROM pg_publication q
            WHERE NOT q.pubviaroot AND (q.puballtables
                OR EXISTS (SELECT FROM pg_publication_rel r
                    WHERE r.prpubid = q.oid AND r.prrelid = source.oid)
                OR EXISTS (SELECT FROM pg_publication_namespace n
                    WHERE n.pnpubid = q.oid AND n.pnnspid = source.relnamespace))
            UNION ALL
            SELECT 13, q.oid::bigint, format('ALTER PUBLICATION %I ADD TABLE %s%s%s', q.pubname, parent,
                (SELECT ' (' || string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) || ')'
                    FROM pg_attribute a
                    WHERE a.attrelid = source.oid AND a.attnum = ANY (r.prattrs::smallint[])),
                ' WHERE (' || pg_get_expr(r.prqual, r.prrelid) || ')')
            FROM pg_publication_rel r
            JOIN pg_publication q ON q.oid = r.prpubid
            WHERE r.prrelid = source.oid
        ) AS s
        ORDER BY s.step, s.number
    );

    FOR statement IN
        SELECT format('ALTER INDEX %s RENAME TO %I', i.indexrelid::regclass, x.relname || '_0')
        FROM pg_index i
        JOIN pg_class x ON x.oid = i.indexrelid
        WHERE i.indrelid = source.oid
        UNION ALL
        SELECT format('ALTER TABLE %s RENAME TO %I', parent, long_table || '_0')
        UNION ALL
        SELECT format('CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING INDEXES)'
            ' PARTITION BY RANGE (ordinal)%s', parent, part,
            (SELECT format(' TABLESPACE %I', s.spcname) FROM pg_tablespace s
                WHERE s.oid = source.reltablespace))
        UNION ALL
        SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', parent, long_table || '_bound')
        UNION ALL
        SELECT * FROM unnest(statements)
    LOOP
        EXECUTE statement;
    END LOOP;
    SELECT 'DROP FUNCTION ' || string_agg(p.oid::regprocedure::text, ', ') INTO outdated
    FROM pg_proc p
    WHERE p.oid = ANY (functions) AND EXISTS (
        SELECT FROM pg_type t
        WHERE (t.oid = source.reltype OR t.typelem = source.reltype) AND t.oid = ANY (p.proargtypes));
    IF outdated IS NOT NULL THEN
        EXECUTE outdated;
    END IF;
    RETURN NULL;
-- What an operator made cannot follow; anything else, such as a lock that is not granted, is raised.
EXCEPTION
    WHEN syntax_error_or_access_rule_violation OR feature_not_supported
        OR dependent_privilege_descriptors_still_exist THEN
        RETURN SQLERRM;
END
$$;

-- Makes the partition of the ordinals from `first` to below `bound`. Readers and writers go on.
CREATE OR REPLACE FUNCTION add_partition(long_table text, first bigint, bound bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    parent pg_class;
    newest pg_class;
    part text;
    statement text;
BEGIN
    SELECT c.* INTO STRICT parent FROM pg_class c WHERE c.oid = to_regclass(quote_ident(long_table));
    SELECT c.* INTO newest
    FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = parent.oid
    ORDER BY c.oid DESC
    LIMIT 1;
    part := format('%s.%I', parent.relnamespace::regnamespace, long_table || '_' || first);
    FOR statement IN
        SELECT format('CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING INDEXES)%s%s', part,
            parent.oid::regclass, ' WITH (' || array_to_string(newest.reloptions, ', ') || ')',
            (SELECT format(' TABLESPACE %I', s.spcname) FROM pg_tablespace s
                WHERE s.oid = parent.reltablespace))
        UNION ALL
        SELECT format('ALTER TABLE %s OWNER TO %s', part, parent.relowner::regrole)
        WHERE parent.relowner::regrole::text <> quote_ident(current_user)
        UNION ALL
        SELECT format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', part, a.attname,
            a.attstattarget)
        FROM pg_attribute a
        WHERE a.attrelid = parent.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attstattarget >= 0
        UNION ALL
        SELECT format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)',
            parent.oid::regclass, part, first, bound)
    LOOP
        EXECUTE statement;
    END LOOP;
END
$$;

-- Drops the oldest partition if all its ordinals are below a bound, and returns whether it did. While it
-- waits for its lock, at most for lock_timeout, readers wait too.
CREATE OR REPLACE FUNCTION drop_partition(long_table text, bound bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    oldest regclass := (
        SELECT p.oid
        FROM pg_inherits i
        JOIN pg_class p ON p.oid = i.inhrelid AND p.relispartition
        CROSS JOIN LATERAL (SELECT substring(
            pg_get_expr(p.relpartbound, p.oid) FROM 'TO \(''?([0-9]+)')::bigint AS ends) AS b
        WHERE i.inhparent = to_regclass(quote_ident(long_table)) AND b.ends <= bound
        ORDER BY b.ends
        LIMIT 1);
BEGIN
    IF oldest IS NOT NULL THEN
        EXECUTE format('DROP TABLE %s', oldest);
    END IF;
    RETURN oldest IS NOT NULL;
END
$$;

-- Makes statistics of a whole long table; autovacuum makes only those of its partitions.
CREATE OR REPLACE FUNCTION analyze_partitioned(long_table text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ANALYZE %s %I', CASE WHEN current_setting('server_version_num')::integer >= 180000
        THEN 'ONLY' END, long_table);
END
$$;
