-- Counts the logs of blocks already written for their emitters and first topics; sign -1 takes them
-- away. Every emitter has its row in addresses by then.
-- params: first_log bigint, last_log bigint, sign integer
-- returns: lists that passed a checkpoint: list, key, entries they had before
-- index: logs_pkey, addresses_pkey, event_topics_pkey
WITH written AS MATERIALIZED (
    SELECT address, topic_id FROM logs WHERE ordinal BETWEEN %(first_log)s AND %(last_log)s
), by_address AS (
    UPDATE addresses a
    SET log_count = nullif(coalesce(a.log_count, 0) + d.logs, 0)
    FROM (SELECT address, count(*) * %(sign)s AS logs FROM written GROUP BY address) AS d
    WHERE a.address = d.address
    RETURNING a.address AS key, coalesce(a.log_count, 0) AS entries, d.logs AS added
), by_topic AS (
    UPDATE event_topics e
    SET log_count = e.log_count + d.logs
    FROM (SELECT topic_id, count(*) * %(sign)s AS logs FROM written GROUP BY topic_id) AS d
    WHERE e.topic_id = d.topic_id
    RETURNING e.topic0 AS key, e.log_count AS entries, d.logs AS added
)
SELECT list, key, entries - added
FROM (
    SELECT 'logs_by_address' AS list, key, entries, added FROM by_address
    UNION ALL
    SELECT 'logs_by_topic0', key, entries, added FROM by_topic
) AS grown
WHERE passes_checkpoint(entries - added, entries);
