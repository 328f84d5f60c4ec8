-- Before blocks are written or unwound: forgets days that an older version has continued or taken back
-- without counting. The newest one counts up to the head, or it is one of them.
-- params: head_number bigint, head_hash bytea
-- returns: nothing
-- index: daily_stats_pkey, daily_stats_first_block_key, blocks_pkey
WITH newest AS MATERIALIZED (
    SELECT s.last_block, s.last_hash
    FROM daily_stats s
    ORDER BY s.first_block DESC
    LIMIT 1
)
DELETE FROM daily_stats s
WHERE (SELECT (n.last_block, n.last_hash) <> (%(head_number)s, %(head_hash)s) FROM newest n)
    AND (s.last_block = (SELECT n.last_block FROM newest n)
        OR NOT EXISTS (SELECT FROM blocks b WHERE b.number = s.last_block AND b.hash = s.last_hash));
