-- The last blocks of finished days, those after `last_kept`.
-- params: last_kept bigint
-- returns: their numbers, the newest first
-- index: daily_stats_first_block_key
SELECT first_block - 1
FROM daily_stats
WHERE first_block > %(last_kept)s + 1
ORDER BY first_block DESC;
