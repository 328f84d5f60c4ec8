-- Looks whether all rows of a plain table keep to the bound. It reads the table; readers and writers go on.
-- params: table text
-- returns: nothing
-- index: none
DO $$
BEGIN
    EXECUTE format('ALTER TABLE %%I VALIDATE CONSTRAINT %%I', %(table)s, %(table)s || '_bound');
END
$$;
