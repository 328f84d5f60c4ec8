-- The numbers of first topics, made for those that have none yet.
-- params: topics bytea[]
-- literals: none
-- returns: topic0, topic_id for each
-- index: event_topics_topic0_key
WITH requested AS (
    SELECT topic0 FROM unnest(%(topics)s::bytea[]) AS requested (topic0)
), inserted AS (
    INSERT INTO event_topics (topic0)
    SELECT topic0 FROM requested
    WHERE NOT EXISTS (SELECT FROM event_topics e WHERE e.topic0 = requested.topic0)
    RETURNING topic0, topic_id
)
SELECT topic0, topic_id FROM inserted
UNION ALL
SELECT e.topic0, e.topic_id FROM requested JOIN event_topics e USING (topic0);
