-- Checks all rows of a plain table against its bound. It reads the whole table, and does not block readers
-- or writers.
-- params: table text
-- returns: nothing
-- index: none
DO $$
BEGIN
    EXECUTE format('ALTER TABLE %%I VALIDATE CONSTRAINT %%I', %(table)s, %(table)s || '_bound');
END
$$;
