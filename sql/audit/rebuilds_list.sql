-- The tables whose rows are to be derived again from stored blocks.
-- params: none
-- returns: name, first and last block, next block, the selection of logs, whether a fork replaced the last block;
--   null where it is not begun
-- index: blocks_pkey
SELECT r.name, r.first_block, r.last_block, r.next_block, r.selection,
    b.hash IS DISTINCT FROM r.last_hash
FROM table_rebuilds r
LEFT JOIN blocks b ON b.number = r.last_block
ORDER BY r.name;
