-- Bounds the ordinals of a plain table by a constraint that existing rows are not checked against yet.
-- params: table text, bound bigint
-- returns: nothing
-- index: none
DO $$
BEGIN
    EXECUTE format('ALTER TABLE %%I ADD CONSTRAINT %%I CHECK (ordinal >= 0 AND ordinal < %%s) NOT VALID',
        %(table)s, %(table)s || '_bound', %(bound)s);
END
$$;
