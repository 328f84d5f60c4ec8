-- The indexes of a table, and the statements that drop and make each; the primary key's first. Of a
-- partitioned table the statements are those of the indexes of all partitions together.
-- params: table text
-- returns: statement that drops it, statement that makes it
-- index: none
SELECT
    CASE WHEN k.oid IS NULL THEN format('DROP INDEX %%s', i.indexrelid::regclass)
        ELSE format('ALTER TABLE %%s DROP CONSTRAINT %%I', i.indrelid::regclass, k.conname) END,
    CASE WHEN k.oid IS NULL THEN replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')
        ELSE format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', i.indrelid::regclass, k.conname,
            pg_get_constraintdef(k.oid)) END
FROM pg_index i
LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid
WHERE i.indrelid = to_regclass(%(table)s)
ORDER BY i.indisprimary DESC, i.indexrelid;
