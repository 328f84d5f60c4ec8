-- Tells whose tables this database has, before any of ours may be read. It reads pg_class, since
-- to_regclass would miss a table that another instance made while this session waited for its lock.
-- params: none
-- returns: one row: whether it has tables of Scan, whether these know of migrations
-- index: none
SELECT count(*) FILTER (WHERE relname = 'blocks') > 0,
    count(*) FILTER (WHERE relname = 'migrations') > 0
FROM pg_class
WHERE relname IN ('blocks', 'migrations') AND pg_table_is_visible(oid);
