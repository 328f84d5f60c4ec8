-- Drops the oldest partition of a long table where all its rows are of blocks before those that are kept.
-- params: table text
-- returns: whether there was one
-- index: none
SELECT drop_partition(%(table)s, first_kept_ordinal(%(table)s));
