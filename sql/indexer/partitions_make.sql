-- Makes a plain table the first partition of a partitioned one; see partition_table() in
-- sql/schema/partitions.sql.
-- params: table text, bound bigint
-- returns: one row: null, or why it cannot be done
-- index: none
SELECT partition_table(%(table)s, %(bound)s);
