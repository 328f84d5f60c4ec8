-- Functions that compare any table with the rows it should hold, and repair it, by its primary key and the
-- catalog.

-- The columns of expected_<table>: those of the primary key, or the others.
CREATE OR REPLACE FUNCTION expected_columns(compared text, in_key boolean) RETURNS name[]
LANGUAGE sql STABLE
RETURN (SELECT array_agg(c.attname ORDER BY c.attnum)
    FROM pg_attribute c
    JOIN pg_index k ON k.indrelid = c.attrelid AND k.indisprimary
    JOIN pg_attribute e
        ON e.attrelid = to_regclass('expected_' || compared) AND e.attname = c.attname
    WHERE c.attrelid = to_regclass(compared) AND c.attnum > 0
        AND (c.attnum = ANY (k.indkey)) = in_key);

-- Names, each formatted by a pattern of format(), joined.
CREATE OR REPLACE FUNCTION format_names(names name[], pattern text, separator text) RETURNS text
LANGUAGE sql IMMUTABLE
RETURN (SELECT string_agg(format(pattern, n.name), separator ORDER BY n.position)
    FROM unnest(names) WITH ORDINALITY AS n (name, position));

-- Makes the temporary table expected_<table> of the rows that the function <table>_expected() returns.
CREATE OR REPLACE FUNCTION expect_rows(compared text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TEMPORARY TABLE %I ON COMMIT DROP AS SELECT * FROM %I()',
        'expected_' || compared, compared || '_expected');
END
$$;

-- Makes a table hold the expected rows, of its rows `s` that a condition chooses; its other columns stay as they
-- are.
CREATE OR REPLACE FUNCTION repair_rows_where(compared text, chosen text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    changed bigint;
    newly bigint;
    keys name[] := expected_columns(compared, true);
    others name[] := expected_columns(compared, false);
    is_same text := format_names(keys, 's.%1$I = e.%1$I', ' AND ');
BEGIN
    EXECUTE format('DELETE FROM %I s WHERE %s AND NOT EXISTS (SELECT FROM %I e WHERE %s)',
        compared, chosen, 'expected_' || compared, is_same);
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF others IS NOT NULL THEN
        EXECUTE format('UPDATE %I s SET %s FROM %I e WHERE %s AND ROW(%s) IS DISTINCT FROM ROW(%s)',
            compared, format_names(others, '%1$I = e.%1$I', ', '), 'expected_' || compared, is_same,
            format_names(others, 's.%I', ', '), format_names(others, 'e.%I', ', '));
        GET DIAGNOSTICS newly = ROW_COUNT;
        changed := changed + newly;
    END IF;
    EXECUTE format('INSERT INTO %1$I (%2$s) OVERRIDING SYSTEM VALUE SELECT %2$s FROM %3$I e'
        ' WHERE NOT EXISTS (SELECT FROM %1$I s WHERE %4$s)',
        compared, format_names(keys || others, '%I', ', '), 'expected_' || compared, is_same);
    GET DIAGNOSTICS newly = ROW_COUNT;
    RETURN changed + newly;
END
$$;

CREATE OR REPLACE FUNCTION repair_rows(compared text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM repair_rows_where(compared, 'true');
END
$$;

-- Begins to derive the rows of a table in a range of blocks from stored blocks: they are copied to the table
-- expected_<table>, which has these columns. Logs have their first topics, which number_rebuilt() numbers.
CREATE OR REPLACE FUNCTION begin_rebuild(
    rebuilt text, columns name[], first bigint, last bigint, selection text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    derived text := format('%I.%I', current_schema(), 'expected_' || rebuilt);
BEGIN
    EXECUTE format('DROP TABLE IF EXISTS %s', derived);
    EXECUTE format('CREATE TABLE %s AS SELECT %s FROM %s WITH NO DATA', derived, format_names(columns, '%I', ', '),
        CASE rebuilt WHEN 'logs' THEN 'logs JOIN event_topics USING (topic_id)' ELSE rebuilt END);
    DELETE FROM table_rebuilds WHERE name = rebuilt;
    INSERT INTO table_rebuilds (name, first_block, last_block, last_hash, next_block, selection)
    SELECT rebuilt, first, last, b.hash, first, selection FROM blocks b WHERE b.number = last;
END
$$;

-- Numbers the derived rows of a long table in the chain's order, and returns the ordinal after the last one.
CREATE OR REPLACE FUNCTION number_rebuilt(rebuilt text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    derived text := format('%I.%I', current_schema(), 'expected_' || rebuilt);
    unnumbered text := derived;
    first_ordinal bigint;
    entries bigint;
BEGIN
    EXECUTE format('SELECT b.%I FROM table_rebuilds r JOIN blocks b ON b.number = r.first_block'
        ' WHERE r.name = %L', rebuilt || '_before', rebuilt) INTO STRICT first_ordinal;
    IF rebuilt = 'logs' THEN
        EXECUTE format('INSERT INTO event_topics (topic0) SELECT topic0 FROM %s WHERE topic0 IS NOT NULL'
            ' EXCEPT SELECT topic0 FROM event_topics', derived);
        unnumbered := format('(SELECT l.*, e.topic_id FROM %s l LEFT JOIN event_topics e USING (topic0))', derived);
    END IF;
    EXECUTE format('CREATE TABLE %s AS SELECT %s - 1 + row_number() OVER (ORDER BY block_number, %s)'
        ' AS ordinal, r.* FROM %s r', derived || '_numbered', first_ordinal,
        CASE rebuilt WHEN 'transactions' THEN 'transaction_index'
            WHEN 'token_transfers' THEN 'log_index, batch_index NULLS FIRST'
            ELSE 'log_index' END, unnumbered);
    GET DIAGNOSTICS entries = ROW_COUNT;
    EXECUTE format('DROP TABLE %s', derived);
    EXECUTE format('ALTER TABLE %s RENAME TO %I', derived || '_numbered', 'expected_' || rebuilt);
    RETURN first_ordinal + entries;
END
$$;

-- Makes a table hold the rows that were derived from stored blocks, with the lists of its rows, and notes
-- that it has them. Returns how many rows were others.
CREATE OR REPLACE FUNCTION end_rebuild(rebuilt text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    derived text := format('%I.%I', current_schema(), 'expected_' || rebuilt);
    is_long boolean := EXISTS (SELECT FROM pg_attribute a
        WHERE a.attrelid = 'blocks'::regclass AND a.attname = rebuilt || '_before');
    span table_rebuilds;
    first_ordinal bigint;
    changed bigint;
BEGIN
    DELETE FROM table_rebuilds r WHERE r.name = rebuilt RETURNING r.* INTO STRICT span;
    EXECUTE format('ANALYZE %s', derived);
    IF is_long THEN
        EXECUTE format('SELECT b.%I FROM blocks b WHERE b.number = %s', rebuilt || '_before',
            span.first_block) INTO STRICT first_ordinal;
    END IF;
    changed := repair_rows_where(rebuilt, CASE WHEN is_long THEN 's.ordinal >= ' || first_ordinal
        WHEN rebuilt = 'log_emitters' THEN
            format('s.block_number BETWEEN %s AND %s', span.first_block, span.last_block)
        ELSE format('s.ordinal BETWEEN first_ordinal_in(%s) AND last_ordinal_in(%s)',
            span.first_block, span.last_block) END);
    EXECUTE format('DROP TABLE %s', derived);
    PERFORM rebuild_lists(rebuilt);
    UPDATE filled_tables f SET first_block = span.first_block
    WHERE f.name = rebuilt AND f.first_block > span.first_block AND f.first_block <= span.last_block + 1;
    UPDATE chain SET stored_logs = span.selection WHERE span.selection IS NOT NULL;
    RETURN changed;
END
$$;

-- Makes a table hold the expected rows, and records that it does.
CREATE OR REPLACE FUNCTION fill_table(derived text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM expect_rows(derived);
    PERFORM repair_rows(derived);
    INSERT INTO filled_tables (name) VALUES (derived);
END
$$;

-- At most `most` of the rows that differ from the expected ones: the row, or else the expected one; its
-- compared columns as stored and as expected, null where there is no row; and the number of all that differ.
CREATE OR REPLACE FUNCTION compare_rows(compared text, most integer)
RETURNS TABLE (compared_row jsonb, stored jsonb, expected jsonb, differences bigint)
LANGUAGE plpgsql AS $$
DECLARE
    keys name[] := expected_columns(compared, true);
    others name[] := expected_columns(compared, false);
BEGIN
    RETURN QUERY EXECUTE format($query$
        SELECT coalesce(to_jsonb(s), to_jsonb(e)),
            CASE WHEN s.%1$I IS NOT NULL THEN jsonb_build_object(%2$s) END,
            CASE WHEN e.%1$I IS NOT NULL THEN jsonb_build_object(%3$s) END, count(*) OVER ()
        FROM %4$I s
        FULL JOIN %5$I e USING (%6$s)
        WHERE s.%1$I IS NULL OR e.%1$I IS NULL OR ROW(%7$s) IS DISTINCT FROM ROW(%8$s)
        ORDER BY %6$s
        LIMIT %9$s
        $query$, keys[1], format_names(others, '%1$L, s.%1$I', ', '),
        format_names(others, '%1$L, e.%1$I', ', '), compared, 'expected_' || compared,
        format_names(keys, '%I', ', '), format_names(others, 's.%I', ', '),
        format_names(others, 'e.%I', ', '), most);
END
$$;

-- The range of all blocks whose rows are not removed.
CREATE OR REPLACE FUNCTION blocks_not_removed() RETURNS block_range LANGUAGE sql STABLE
RETURN (SELECT (b.number, 9223372036854775807, b.transactions_before, 9223372036854775807,
        b.token_transfers_before, 9223372036854775807, b.dex_trades_before, 9223372036854775807,
        b.internal_transfers_before, 9223372036854775807, b.logs_before, 9223372036854775807)::block_range
    FROM retention r
    JOIN blocks b ON b.number = r.removed_to);
