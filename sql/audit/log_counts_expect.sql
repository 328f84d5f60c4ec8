-- How many logs each address emitted, and how many there are with each first topic; none: no row.
-- params: none
-- returns: nothing; makes the temporary table expected_log_counts
-- index: none
CREATE TEMPORARY TABLE expected_log_counts ON COMMIT DROP AS
SELECT 'address' AS counted, address AS key, count(*) AS log_count FROM logs GROUP BY address
UNION ALL
SELECT 'topic0', e.topic0, count(*) FROM logs JOIN event_topics e USING (topic_id) GROUP BY e.topic0;
