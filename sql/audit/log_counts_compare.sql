-- Addresses and first topics whose number of logs is not what the logs give.
-- params: most integer
-- returns: what it is of, what is stored, what is expected (jsonb), how many such there are
-- index: none
SELECT counted || ' ' || hex(key), jsonb_build_object('log_count', stored),
    jsonb_build_object('log_count', expected), count(*) OVER ()
FROM (
    SELECT c.counted, c.key, c.log_count AS stored, coalesce(e.log_count, 0) AS expected
    FROM (
        SELECT 'address' AS counted, address AS key, coalesce(log_count, 0) AS log_count
        FROM addresses
        UNION ALL
        SELECT 'topic0', topic0, log_count FROM event_topics
    ) AS c
    LEFT JOIN expected_log_counts e USING (counted, key)
) AS compared
WHERE stored <> expected
ORDER BY counted, key
LIMIT %(most)s;
