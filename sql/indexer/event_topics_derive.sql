-- Counts the logs of blocks already written for their first topics; sign -1 takes them away.
-- params: span block_range, sign integer
-- returns: lists that passed a checkpoint: list, key, entries they had before
-- index: logs_pkey, event_topics_pkey
WITH changes AS (
    SELECT topic_id, log_count * %(sign)s AS log_count
    FROM event_topics_changes(%(span)s::block_range)
), counted AS (
    UPDATE event_topics e
    SET log_count = e.log_count + c.log_count
    FROM changes c
    WHERE e.topic_id = c.topic_id
    RETURNING e.topic0, e.log_count, c.log_count AS added
)
SELECT 'logs_by_topic0', topic0, log_count - added
FROM counted
WHERE passes_checkpoint(log_count - added, log_count);
