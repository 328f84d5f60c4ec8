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
