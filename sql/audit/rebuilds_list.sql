-- The tables whose rows are to be derived again from stored blocks.
-- params: none
-- returns: name, first and last block, next block, the selection of logs, whether it is to begin: the former are
--   null, or a fork replaced the last block
-- index: blocks_pkey
SELECT r.name, r.first_block, r.last_block, r.next_block, r.selection,
    r.first_block IS NULL OR b.hash IS DISTINCT FROM r.last_hash
FROM table_rebuilds r
LEFT JOIN blocks b ON b.number = r.last_block
ORDER BY r.name;
