
    SELECT 'column', table_name, column_name,
        concat_ws(' ', data_type, numeric_precision, is_nullable, column_default)
    FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL
    SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL
    SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL
    SELECT 'function', proname, pg_get_function_arguments(oid), pg_get_functiondef(oid)
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind <> 'a'
    UNION ALL
    SELECT 'storage', relname, relkind::text, reloptions::text
    FROM pg_class WHERE relnamespace = 'public'::regnamespace
