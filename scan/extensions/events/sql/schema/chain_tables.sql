-- Logs of the contracts that are followed (scan events), each from its followed_contracts.complete_from on.

-- The last 20 bytes of a topic that has an address; null for any other.
CREATE OR REPLACE FUNCTION topic_address(topic bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN substr(topic, 1, 12) = '\x000000000000000000000000'::bytea THEN substr(topic, 13) END;

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
-- serve queries/contract_events_list, the views of the schema events
CREATE INDEX IF NOT EXISTS contract_events_by_topic0 ON contract_events
    (address, topic0, block_number, log_index);
CREATE INDEX IF NOT EXISTS contract_events_by_topic1 ON contract_events
    (address, topic0, topic1, block_number, log_index) WHERE topic1 IS NOT NULL;
CREATE INDEX IF NOT EXISTS contract_events_by_topic2 ON contract_events
    (address, topic0, topic2, block_number, log_index) WHERE topic2 IS NOT NULL;
CREATE INDEX IF NOT EXISTS contract_events_by_topic3 ON contract_events
    (address, topic0, topic3, block_number, log_index) WHERE topic3 IS NOT NULL;
-- serve conditions on addresses in the views of the schema events
CREATE INDEX IF NOT EXISTS contract_events_by_address1 ON contract_events (address, topic0, topic_address(topic1))
    WHERE topic_address(topic1) IS NOT NULL;
CREATE INDEX IF NOT EXISTS contract_events_by_address2 ON contract_events (address, topic0, topic_address(topic2))
    WHERE topic_address(topic2) IS NOT NULL;
CREATE INDEX IF NOT EXISTS contract_events_by_address3 ON contract_events (address, topic0, topic_address(topic3))
    WHERE topic_address(topic3) IS NOT NULL;
-- The two columns depend on each other: without this the planner expects one row of an event.
CREATE STATISTICS IF NOT EXISTS contract_events_by_event (dependencies, mcv) ON address, topic0 FROM contract_events;

-- How many logs of a followed contract have a first topic, '' for none. Whatever writes contract_events keeps it.
CREATE TABLE IF NOT EXISTS contract_event_counts (
    address bytea NOT NULL,
    topic0 bytea NOT NULL,
    logs bigint NOT NULL CHECK (logs > 0),
    PRIMARY KEY (address, topic0)
);
CREATE OR REPLACE FUNCTION count_added_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO contract_event_counts AS c (address, topic0, logs)
    SELECT a.address, coalesce(a.topic0, ''), count(*) FROM added a GROUP BY 1, 2
    ON CONFLICT (address, topic0) DO UPDATE SET logs = c.logs + EXCLUDED.logs;
    RETURN NULL;
END
$$;
CREATE OR REPLACE FUNCTION count_removed_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WITH removals AS MATERIALIZED (
        SELECT r.address, coalesce(r.topic0, '') AS topic0, count(*) AS logs FROM removed r GROUP BY 1, 2
    ), ended AS (
        DELETE FROM contract_event_counts c USING removals r
        WHERE c.address = r.address AND c.topic0 = r.topic0 AND c.logs = r.logs
    )
    UPDATE contract_event_counts c SET logs = c.logs - r.logs FROM removals r
    WHERE c.address = r.address AND c.topic0 = r.topic0 AND c.logs <> r.logs;
    RETURN NULL;
END
$$;
CREATE OR REPLACE FUNCTION forget_event_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM contract_event_counts;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER contract_events_added AFTER INSERT ON contract_events
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_events();
CREATE OR REPLACE TRIGGER contract_events_removed AFTER DELETE ON contract_events
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed_events();
CREATE OR REPLACE TRIGGER contract_events_truncated AFTER TRUNCATE ON contract_events
    FOR EACH STATEMENT EXECUTE FUNCTION forget_event_counts();
-- Rows that an earlier version wrote without counting them are counted once, while the triggers' lock keeps others out.
DO $$
BEGIN
    IF obj_description('contract_event_counts'::regclass, 'pg_class') IS NULL THEN
        DELETE FROM contract_event_counts;
        INSERT INTO contract_event_counts (address, topic0, logs)
        SELECT e.address, coalesce(e.topic0, ''), count(*) FROM contract_events e GROUP BY 1, 2;
        COMMENT ON TABLE contract_event_counts IS 'counted by triggers of contract_events';
    END IF;
END
$$;
