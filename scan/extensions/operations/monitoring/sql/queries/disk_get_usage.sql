-- The size of the database, and the time of its newest block.
-- params: none
-- returns: one row: size of the database in bytes bigint; when the newest block was made in Unix seconds
--   bigint, null without blocks
-- index: blocks_pkey
SELECT
    pg_database_size(current_database()),
    (SELECT extract(epoch FROM b.timestamp)::bigint FROM blocks b ORDER BY b.number DESC LIMIT 1);
