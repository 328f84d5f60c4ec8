-- Stores the number of logs of each first topic.
-- params: topics bytea[], counts bigint[]
-- returns: nothing
-- index: event_topics_topic0_key
UPDATE event_topics e
SET log_count = c.logs
FROM unnest(%(topics)s::bytea[], %(counts)s::bigint[]) AS c (topic0, logs)
WHERE e.topic0 = c.topic0;
