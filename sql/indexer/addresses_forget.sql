-- After a reorganisation: deletes the addresses that only orphaned blocks had seen, and takes them from the
-- active ones of the day that lost these blocks.
-- params: last_kept bigint, day date null
-- returns: nothing
-- index: addresses_unwound, daily_stats_pkey
WITH forgotten AS (
    DELETE FROM addresses WHERE unwound AND first_seen > %(last_kept)s RETURNING last_acted
)
UPDATE daily_stats s
SET active_address_count = s.active_address_count - lost.addresses
FROM (SELECT count(last_acted) AS addresses FROM forgotten) AS lost
WHERE s.day = %(day)s;
