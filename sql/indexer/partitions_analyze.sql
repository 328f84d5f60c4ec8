-- Updates the statistics of a whole partitioned table; autovacuum makes only those of its partitions.
-- params: table text
-- returns: one row without a value
-- index: none
SELECT analyze_partitioned(%(table)s);
