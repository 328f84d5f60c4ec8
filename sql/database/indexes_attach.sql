-- Makes a partition's index part of an index of the partitioned table.
-- params: index text, part text
-- returns: nothing
-- index: none
DO $$
BEGIN
    EXECUTE format('ALTER INDEX %%I ATTACH PARTITION %%I', %(index)s, %(part)s);
END
$$;
