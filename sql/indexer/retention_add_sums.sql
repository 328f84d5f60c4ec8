-- Adds the changes that blocks made to derived tables to the checksums of removed rows.
-- params: span block_range
-- returns: nothing
-- index: none
INSERT INTO retention_sums AS s (derived_table, derived_column, checksum)
SELECT c.derived_table, c.derived_column, c.checksum
FROM checksums(%(span)s::block_range) AS c
ON CONFLICT (derived_table, derived_column) DO UPDATE SET checksum = s.checksum + EXCLUDED.checksum;
