-- The first topics that have a number: with SCAN_LOGS=standard those of the logs that are stored.
-- params: none
-- returns: topic0 for each
-- index: none
SELECT topic0 FROM event_topics;
