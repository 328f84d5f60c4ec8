-- In DuckDB: the first topics of stored logs, as event_topics_changes() of sql/schema/changes.sql; files
-- have no numbers of topics.
-- params: none
-- returns: topic0, how many logs have it
-- index: none
SELECT topic0, count(*) FROM logs_files WHERE topic0 IS NOT NULL GROUP BY topic0 ORDER BY topic0;
