-- Logs of the contracts that are followed (scan events), each from its followed_contracts.complete_from on.

CREATE TABLE IF NOT EXISTS contract_events (
    ordinal bigint PRIMARY KEY,    -- first_ordinal_in() its block, and its index among the block's logs
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    log_index integer NOT NULL,
    address bytea NOT NULL,
    topic0 bytea,                  -- null: it has no topics
    topic1 bytea,
    topic2 bytea,
    topic3 bytea,
    data bytea                     -- null: the table of logs has it (SCAN_LOGS=all)
);
-- serves events/changes_list, events/newest_change_get, events/logs_queue, events/removal_continue
CREATE INDEX IF NOT EXISTS contract_events_by_topic0 ON contract_events
    (address, topic0, block_number, log_index);

-- How many logs of a followed contract have a first topic, '' for none. Whatever writes contract_events keeps it,
-- and takes away what was decoded and queues what is to be (verified_contracts.sql).
CREATE TABLE IF NOT EXISTS contract_event_counts (
    address bytea NOT NULL,
    topic0 bytea NOT NULL,
    logs bigint NOT NULL CHECK (logs > 0),
    PRIMARY KEY (address, topic0)
);
CREATE OR REPLACE FUNCTION follow_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN -- perhaps of these tables, too, which cannot be truncated twice
        DELETE FROM contract_event_counts;
        DELETE FROM decoded_events;
        DELETE FROM undecoded_events;
    END IF;
    IF TG_OP IN ('DELETE', 'UPDATE') THEN
        -- In this order: what another transaction has decoded meanwhile is seen.
        DELETE FROM undecoded_events u USING removed r WHERE u.ordinal = r.ordinal;
        DELETE FROM decoded_events d USING removed r WHERE d.ordinal = r.ordinal;
        WITH removals AS MATERIALIZED (
            SELECT r.address, coalesce(r.topic0, '') AS topic0, count(*) AS logs FROM removed r GROUP BY 1, 2
        ), ended AS (
            DELETE FROM contract_event_counts c USING removals r
            WHERE c.address = r.address AND c.topic0 = r.topic0 AND c.logs = r.logs
        )
        UPDATE contract_event_counts c SET logs = c.logs - r.logs FROM removals r
        WHERE c.address = r.address AND c.topic0 = r.topic0 AND c.logs <> r.logs;
    END IF;
    IF TG_OP IN ('INSERT', 'UPDATE') THEN
        INSERT INTO contract_event_counts AS c (address, topic0, logs)
        SELECT a.address, coalesce(a.topic0, ''), count(*) FROM added a GROUP BY 1, 2
        ON CONFLICT (address, topic0) DO UPDATE SET logs = c.logs + EXCLUDED.logs;
        -- A log of a removed block may have been queued again while its removal was not seen.
        INSERT INTO undecoded_events (ordinal, address) SELECT a.ordinal, followed_as(a.address) FROM added a
        ON CONFLICT (ordinal) DO UPDATE SET address = EXCLUDED.address, queued_by = EXCLUDED.queued_by;
    END IF;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER contract_events_added AFTER INSERT ON contract_events
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION follow_events();
CREATE OR REPLACE TRIGGER contract_events_changed AFTER UPDATE ON contract_events
    REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION follow_events();
CREATE OR REPLACE TRIGGER contract_events_removed AFTER DELETE ON contract_events
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION follow_events();
CREATE OR REPLACE TRIGGER contract_events_truncated AFTER TRUNCATE ON contract_events
    FOR EACH STATEMENT EXECUTE FUNCTION follow_events();
