-- Partitions of the long tables: transactions, token_transfers, internal_transfers, dex_trades and logs, by
-- ordinal. They are made ahead of the rows, and named by their first ordinal. See docs/growing.md.

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
