-- Numbers the derived rows of a long table.
-- params: table text
-- returns: the ordinal after the last one
-- index: blocks_pkey, table_rebuilds_pkey
SELECT number_rebuilt(%(table)s);
