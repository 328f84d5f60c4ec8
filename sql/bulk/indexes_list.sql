-- The indexes of a table, and the statements that drop and make each; the primary key's first.
-- params: table text
-- returns: statement that drops it, statement that makes it
-- index: none
SELECT
    CASE WHEN k.oid IS NULL THEN format('DROP INDEX %%s', i.indexrelid::regclass)
        ELSE format('ALTER TABLE %%s DROP CONSTRAINT %%I', i.indrelid::regclass, k.conname) END,
    CASE WHEN k.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
        ELSE format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', i.indrelid::regclass, k.conname,
            pg_get_constraintdef(k.oid)) END
FROM pg_index i
LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid
WHERE i.indrelid = to_regclass(%(table)s)
ORDER BY i.indisprimary DESC, i.indexrelid;
