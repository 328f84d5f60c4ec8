-- Makes the numbers of logs of addresses and first topics what the logs give.
-- params: none
-- returns: nothing
-- index: addresses_pkey, event_topics_topic0_key
WITH wrong_addresses AS (
    UPDATE addresses a
    SET log_count = c.log_count
    FROM (SELECT a.address, e.log_count
        FROM addresses a
        LEFT JOIN expected_log_counts e ON e.counted = 'address' AND e.key = a.address) AS c
    WHERE a.address = c.address AND a.log_count IS DISTINCT FROM c.log_count
)
UPDATE event_topics t
SET log_count = c.log_count
FROM (SELECT t.topic0, coalesce(e.log_count, 0) AS log_count
    FROM event_topics t
    LEFT JOIN expected_log_counts e ON e.counted = 'topic0' AND e.key = t.topic0) AS c
WHERE t.topic0 = c.topic0 AND t.log_count <> c.log_count;
