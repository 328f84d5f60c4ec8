-- Drops the constraint on a plain table's ordinals.
-- params: table text
-- returns: nothing
-- index: none
DO $$
BEGIN
    EXECUTE format('ALTER TABLE %%I DROP CONSTRAINT %%I', %(table)s, %(table)s || '_bound');
END
$$;
