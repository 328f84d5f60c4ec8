-- When the newest block was made.
-- params: none
-- returns: one row: Unix seconds bigint; none without blocks
-- index: blocks_pkey
SELECT extract(epoch FROM b.timestamp)::bigint FROM blocks b ORDER BY b.number DESC LIMIT 1;
