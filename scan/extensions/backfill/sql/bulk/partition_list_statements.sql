-- The statements that replace an empty partition by a new table of the same definition,
-- <partition>_loading: those to run before rows are copied to it, and those after. None but DROP TABLE
-- locks the partitioned table, so that its readers and the transactions that load its other partitions go
-- on until then. Thanks to the constraint ATTACH need not read the new table.
-- params: partition text, first bigint, bound bigint
-- returns: statement, whether it follows the rows; in the order to run them in
-- index: none
WITH partition AS (
    SELECT a.attname AS key, c.*, c.oid::regclass AS name, i.inhparent::regclass AS parent,
        c.relnamespace::regnamespace AS schema,
        format('%%s.%%I', c.relnamespace::regnamespace, c.relname || '_loading') AS loading
    FROM pg_class c
    JOIN pg_inherits i ON i.inhrelid = c.oid
    JOIN pg_partitioned_table t ON t.partrelid = i.inhparent
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = t.partattrs[0]
    WHERE c.oid = to_regclass(%(partition)s)
), indexes AS (
    SELECT i.indexrelid, i.indisunique, x.relname, 'loading_' || i.indexrelid AS name,
        pg_get_indexdef(i.indexrelid) AS definition, pg_get_constraintdef(k.oid) AS constraint_definition
    FROM partition p
    JOIN pg_index i ON i.indrelid = p.oid
    JOIN pg_class x ON x.oid = i.indexrelid
    LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid
)
SELECT s.text, s.step > 4
FROM partition p
CROSS JOIN LATERAL (
    VALUES
        (1, 0::bigint, format('CREATE TABLE %%s (LIKE %%s INCLUDING ALL EXCLUDING INDEXES)%%s%%s', p.loading, p.name,
            ' WITH (' || array_to_string(p.reloptions, ', ') || ')',
            (SELECT format(' TABLESPACE %%I', t.spcname) FROM pg_tablespace t WHERE t.oid = p.reltablespace))),
        (2, 0, CASE WHEN p.relowner::regrole::text <> quote_ident(current_user)
            THEN format('ALTER TABLE %%s OWNER TO %%s', p.loading, p.relowner::regrole) END),
        (4, 0, format('ALTER TABLE %%s ADD CONSTRAINT loading_bound CHECK (%%I >= %%s AND %%I < %%s)',
            p.loading, p.key, %(first)s::bigint, p.key, %(bound)s::bigint)),
        (6, 0, format('ANALYZE %%s', p.loading)),
        (7, 0, format('DROP TABLE %%s', p.name)),
        (8, 0, format('ALTER TABLE %%s RENAME TO %%I', p.loading, p.relname)),
        (10, 0, format('ALTER TABLE %%s ATTACH PARTITION %%s %%s', p.parent, p.name, pg_get_expr(p.relpartbound, p.oid))),
        (11, 0, format('ALTER TABLE %%s DROP CONSTRAINT loading_bound', p.name))
    UNION ALL
    SELECT 3, a.attnum, format('ALTER TABLE %%s ALTER COLUMN %%I SET STATISTICS %%s', p.loading, a.attname,
        a.attstattarget)
    FROM pg_attribute a
    WHERE a.attrelid = p.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attstattarget >= 0
    UNION ALL
    SELECT n.step, i.indexrelid::bigint, n.text
    FROM indexes i
    CROSS JOIN LATERAL (VALUES
        (5, CASE WHEN i.constraint_definition IS NULL
            THEN format('CREATE %%sINDEX %%I ON %%s%%s', CASE WHEN i.indisunique THEN 'UNIQUE ' END, i.name,
                p.loading, substring(i.definition FROM ' USING .*'))
            ELSE format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', p.loading, i.name, i.constraint_definition) END),
        (9, format('ALTER INDEX %%s.%%I RENAME TO %%I', p.schema, i.name, i.relname))
    ) AS n (step, text)
) AS s (step, number, text)
WHERE s.text IS NOT NULL
ORDER BY s.step, s.number;
