-- The indexes of a table and its partitions, the primary key's first, with the statements that drop and
-- make each. Triggers of token_holders follow, which would keep a copy of all rows and count nothing, as no token is
-- counted; those of other tables count what is loaded.
-- params: table text
-- returns: statement that drops it, statement that makes it
-- index: none
SELECT before, after
FROM (
    SELECT
        CASE WHEN k.oid IS NULL THEN format('DROP INDEX %%s', i.indexrelid::regclass)
            ELSE format('ALTER TABLE %%s DROP CONSTRAINT %%I', i.indrelid::regclass, k.conname) END,
        CASE WHEN k.oid IS NULL THEN replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')
            ELSE format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', i.indrelid::regclass, k.conname,
                pg_get_constraintdef(k.oid)) END,
        (NOT i.indisprimary)::integer, i.indexrelid
    FROM pg_index i
    LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid
    WHERE i.indrelid = to_regclass(%(table)s)
    UNION ALL
    SELECT format('ALTER TABLE %%s DISABLE TRIGGER %%I', t.tgrelid::regclass, t.tgname),
        format('ALTER TABLE %%s ENABLE TRIGGER %%I', t.tgrelid::regclass, t.tgname), 2, t.oid
    FROM pg_trigger t
    WHERE t.tgrelid = to_regclass(%(table)s) AND %(table)s = 'token_holders' AND NOT t.tgisinternal
) AS statements (before, after, position, oid)
ORDER BY position, oid;
