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
    WHERE i.inhparent = parent.oid AND NOT starts_with(c.relname, long_table || '_kept_')
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

-- The partitions of a long table with their ordinals, and whether only kept rows of a dropped one are left.
CREATE OR REPLACE FUNCTION partitions_of(long_table text)
RETURNS TABLE (part regclass, first bigint, past bigint, is_reduced boolean) LANGUAGE sql STABLE AS $$
    SELECT p.oid::regclass, substring(b.bounds FROM 'FROM \(''?([0-9]+)')::bigint,
        substring(b.bounds FROM 'TO \(''?([0-9]+)')::bigint, starts_with(p.relname, long_table || '_kept_')
    FROM pg_inherits i
    JOIN pg_class p ON p.oid = i.inhrelid AND p.relispartition
    CROSS JOIN pg_get_expr(p.relpartbound, p.oid) AS b (bounds)
    WHERE i.inhparent = to_regclass(quote_ident(long_table))
$$;

-- Drops the oldest whole partition if all its ordinals are below a bound, and returns whether it did. The rows of
-- kept transactions, and blocks that have one, take its place, together with those before it while these are
-- few. While it waits for its lock, at most for lock_timeout, readers wait too.
CREATE OR REPLACE FUNCTION drop_partition(long_table text, bound bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    oldest record;
    before record;
    kept_rows bigint;
BEGIN
    SELECT o.*, long_table || '_kept_' || o.past AS kept INTO oldest
    FROM partitions_of(long_table) o WHERE NOT o.is_reduced AND o.past <= bound ORDER BY o.past LIMIT 1;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', oldest.kept, long_table);
    EXECUTE format('INSERT INTO %I SELECT x.* FROM ' || CASE long_table WHEN 'block_bodies'
        THEN '%2$s x WHERE EXISTS (SELECT FROM kept_transactions k WHERE k.block_number = x.block_number)'
        ELSE 'kept_transactions k JOIN blocks b ON b.number = k.block_number CROSS JOIN LATERAL (
            SELECT r.* FROM %2$s r WHERE r.ordinal >= b.%3$I AND r.ordinal < b.%3$I + b.%4$I
                AND r.transaction_index = k.transaction_index OFFSET 0) AS x
            WHERE k.block_number >= (SELECT r.block_number FROM %2$s r ORDER BY r.ordinal LIMIT 1)' END,
        oldest.kept, oldest.part, long_table || '_before', rtrim(long_table, 's') || '_count');
    GET DIAGNOSTICS kept_rows = ROW_COUNT;
    SELECT o.* INTO before FROM partitions_of(long_table) o WHERE o.past <= oldest.first ORDER BY o.past DESC LIMIT 1;
    IF kept_rows > 0 AND pg_total_relation_size(before.part) < 256 * 1024 * 1024 THEN
        EXECUTE format('INSERT INTO %I SELECT * FROM %s', oldest.kept, before.part);
        EXECUTE format('DROP TABLE %s', before.part);
        oldest.first := before.first;
    END IF;
    EXECUTE format('DROP TABLE %s', oldest.part);
    EXECUTE format(CASE WHEN kept_rows > 0 THEN 'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)'
        ELSE 'DROP TABLE %2$I' END, long_table, oldest.kept, oldest.first, oldest.past);
    RETURN true;
END
$$;

-- Makes statistics of a whole long table; autovacuum makes only those of its partitions.
CREATE OR REPLACE FUNCTION analyze_partitioned(long_table text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ANALYZE %s %I', CASE WHEN current_setting('server_version_num')::integer >= 180000
        THEN 'ONLY' END, long_table);
END
$$;
