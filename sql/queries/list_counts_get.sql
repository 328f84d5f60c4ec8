-- The numbers of entries of one key's lists that list_counts counts.
-- params: key bytea, lists text[]
-- literals: none
-- returns: one row: index version, counts by the lists' names as a JSON object, without empty lists
-- index: list_counts_pkey
SELECT index_version(), coalesce((
    SELECT json_object_agg(c.list, c.count)
    FROM list_counts c
    WHERE c.list = ANY (%(lists)s) AND c.key = %(key)s), '{}'::json);
