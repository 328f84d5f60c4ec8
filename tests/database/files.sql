
    SELECT relname, relfilenode FROM pg_class
    WHERE relkind = 'r' AND relname = ANY(%s)
    ORDER BY relname
