-- Sets the counters that a bulk backfill wrote to 0.
-- params: none
-- returns: nothing
-- index: chain_pkey
WITH topics AS (
    UPDATE event_topics SET log_count = 0 WHERE log_count <> 0
)
UPDATE chain SET token_count = 0;
