-- The names of the tables that have several partitions.
-- params: none
-- literals: none
-- returns: one row: array of their names
-- index: none
SELECT ARRAY(
    SELECT c.relname::text
    FROM pg_class c
    WHERE c.relkind = 'p' AND pg_table_is_visible(c.oid)
        AND (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = c.oid) > 1);
