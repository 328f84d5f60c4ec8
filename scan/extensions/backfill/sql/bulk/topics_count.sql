-- In DuckDB: the first topics of stored logs with their numbers of logs, as event_topics_changes() of
-- sql/schema/changes.sql counts them. Files have no numbers of topics.
-- params: none
-- returns: topic0, number of logs
-- index: none
SELECT topic0, count(*) FROM logs_files WHERE topic0 IS NOT NULL GROUP BY topic0 ORDER BY topic0;
