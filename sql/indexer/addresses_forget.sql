-- After a reorganisation: addresses that only orphaned blocks had seen are not seen.
-- params: last_kept bigint
-- returns: nothing
-- index: addresses_unwound
DELETE FROM addresses WHERE unwound AND first_seen > %(last_kept)s;
