-- Finds columns of derived tables whose sum over all rows differs from the sum over removed rows and the
-- others.
-- params: span block_range
-- returns: the kind of error, the number of such columns, one of them
-- index: none
SELECT 'sums over all rows contradict what is stored', count(*), min(s.derived_table || '.' || s.derived_column)
FROM checksums(NULL) s
FULL JOIN checksums(%(span)s::block_range) c USING (derived_table, derived_column)
FULL JOIN retention_sums r USING (derived_table, derived_column)
WHERE coalesce(s.checksum, 0) <> coalesce(c.checksum, 0) + coalesce(r.checksum, 0)
HAVING count(*) > 0;
