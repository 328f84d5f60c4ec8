-- A block whose header was proven by its hash, among the oldest and the newest.
-- params: none
-- returns: one row: the number, null without such a block
-- index: blocks_pkey
SELECT min(b.number)
FROM (
    (SELECT number, unproven FROM blocks ORDER BY number LIMIT 100)
    UNION ALL
    (SELECT number, unproven FROM blocks ORDER BY number DESC LIMIT 100)
) AS b
WHERE b.unproven IS NULL OR left(b.unproven, 7) <> 'header ';
