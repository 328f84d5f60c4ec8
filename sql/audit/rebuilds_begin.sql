-- Begins to derive the rows of a table in a range of blocks again.
-- params: table text, columns name[], block_from bigint, block_to bigint,
--   selection text null
-- returns: nothing
-- index: blocks_pkey, table_rebuilds_pkey
SELECT begin_rebuild(%(table)s, %(columns)s::name[], %(block_from)s, %(block_to)s,
    %(selection)s);
