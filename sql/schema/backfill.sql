-- The function that fills columns added by a migration.

-- Fills columns of blocks or transactions from the temporary table fetched_<table>, where they are null
-- in the row of the same key and hash, and returns the number of rows that it filled.
CREATE OR REPLACE FUNCTION fill_columns(filled_table text, key text, columns text[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    filled bigint;
BEGIN
    EXECUTE (
        SELECT format('UPDATE %1$I t SET %3$s FROM fetched_%1$s f'
            ' WHERE t.%2$I = f.%2$I AND t.hash = f.hash AND (%4$s)', filled_table, key,
            string_agg(format('%1$I = coalesce(t.%1$I, f.%1$I)', name), ', '),
            string_agg(format('t.%1$I IS NULL AND f.%1$I IS NOT NULL', name), ' OR '))
        FROM unnest(columns) AS name);
    GET DIAGNOSTICS filled = ROW_COUNT;
    RETURN filled;
END
$$;
