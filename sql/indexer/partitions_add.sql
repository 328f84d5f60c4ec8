-- Makes the partition of the ordinals from first to below bound.
-- params: table text, first bigint, bound bigint
-- returns: one row without a value
-- index: none
SELECT add_partition(%(table)s, %(first)s, %(bound)s);
