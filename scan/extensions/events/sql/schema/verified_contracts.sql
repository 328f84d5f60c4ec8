-- Contracts whose events are tables, and how their events are named and decoded.

-- Or the child contracts of a factory: a row for all that one argument of one of its events names, with a hash in place
-- of an address (see Children in following.py).
CREATE TABLE IF NOT EXISTS followed_contracts (
    address bytea PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[a-z][a-z0-9_]{0,30}$'), -- with which its views begin
    -- From this block on contract_events has all its logs; 2^63 - 1: its factory's are filled first.
    complete_from bigint NOT NULL DEFAULT 0,
    is_automatic boolean NOT NULL, -- followed since a build of SCAN_ARTIFACTS has its code
    abi json,                      -- as it was given; null: by its verification or build
    abi_digest bytea,              -- of the events by which the views were made; null: they are to be made
    implementations bytea[] NOT NULL DEFAULT '{}', -- whose ABIs the views have, too
    problem text,                  -- why older logs are not filled
    views_problem text,            -- why its views cannot be made as its ABI is
    events_left_out integer NOT NULL DEFAULT 0, -- of its ABI, which are no views: they exceed bounds
    added_at timestamptz NOT NULL DEFAULT now(),
    factory bytea,                 -- null: it is a contract
    named_by jsonb                 -- the factory's event and its argument, as Children.named_by() has them
);
-- serves queries/event_views_list, indexer/followed_children_insert
CREATE INDEX IF NOT EXISTS followed_contracts_by_factory ON followed_contracts (factory) WHERE factory IS NOT NULL;
-- The child contracts of factories, each by the first log that names it, and of several rules for that log
-- by the one that was added first. Who is followed as itself is none,
-- but by itself. A contract that was removed is its own, and a removed factory's stay so, until their logs are gone.
CREATE TABLE IF NOT EXISTS followed_children (
    address bytea PRIMARY KEY,
    followed_as bytea NOT NULL,    -- in followed_contracts, or removed from there
    block_number bigint NOT NULL   -- of that log; from it on its logs are kept
);
-- serves events/fill_list_blocks, events/removal_continue, indexer/followed_contracts_unwind
CREATE INDEX IF NOT EXISTS followed_children_by_contract ON followed_children (followed_as, block_number);
-- The address in followed_contracts by which a contract's logs are decoded.
CREATE OR REPLACE FUNCTION followed_as(contract bytea) RETURNS bytea LANGUAGE sql STABLE
RETURN coalesce((SELECT c.followed_as FROM followed_children c WHERE c.address = contract), contract);
-- Those that were removed by hand, which are not followed again by themselves.
CREATE TABLE IF NOT EXISTS unfollowed_contracts (
    address bytea PRIMARY KEY
);

-- The first topics of the forms of a view, in hex; of anonymous ones ''.
CREATE OR REPLACE FUNCTION topics_of_forms(forms jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(SELECT coalesce(f.value->>'topic0', '') FROM jsonb_array_elements(forms) AS f);

-- A view for each event of a followed contract. Names and columns stay once they are here.
CREATE TABLE IF NOT EXISTS event_views (
    view_name text PRIMARY KEY CHECK (octet_length(view_name) <= 63),
    address bytea NOT NULL REFERENCES followed_contracts ON DELETE CASCADE,
    event text NOT NULL,           -- as the ABI has it
    columns jsonb NOT NULL,        -- [[name, SQL type], ...] after those that all views have, in the view's order
    forms jsonb NOT NULL,          -- by which logs are decoded, see EventForm in event_tables.py
    -- Of the forms, which are large where an ABI is: those of other events are not read for a log.
    topics text[] NOT NULL GENERATED ALWAYS AS (topics_of_forms(forms)) STORED,
    id integer GENERATED ALWAYS AS IDENTITY UNIQUE
);
CREATE INDEX IF NOT EXISTS event_views_by_address ON event_views (address);
-- Logs of followed contracts, decoded by the forms of their views: the rows of these.
CREATE TABLE IF NOT EXISTS decoded_events (
    ordinal bigint PRIMARY KEY,    -- of contract_events
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    event integer NOT NULL,        -- the id in event_views
    form smallint NOT NULL,        -- the number among its forms
    key1 bytea,                    -- the topic of its first indexed argument, or its 20 bytes of an address
    key2 bytea,
    key3 bytea,
    key4 bytea,                    -- of anonymous events alone
    -- The arguments in the event's order, as JSON has them in answers, with U+FFFD for a zero, which PostgreSQL has in
    -- no text; null: its data or topics are not the event's. null of one: the log may be of two forms that differ in it.
    args jsonb,
    exact json[],                  -- args with their zeros, where there are any
    alternatives json,             -- the args of each form that it may be of, where these are several
    emitter bytea                  -- of a child contract, whose view has those of others
);
-- serve queries/decoded_events_list, the views of the schema events
CREATE INDEX IF NOT EXISTS decoded_events_by_event ON decoded_events (event, block_number);
CREATE INDEX IF NOT EXISTS decoded_events_by_key1 ON decoded_events (event, key1, block_number)
    WHERE key1 IS NOT NULL;
CREATE INDEX IF NOT EXISTS decoded_events_by_key2 ON decoded_events (event, key2, block_number)
    WHERE key2 IS NOT NULL;
CREATE INDEX IF NOT EXISTS decoded_events_by_key3 ON decoded_events (event, key3, block_number)
    WHERE key3 IS NOT NULL;
CREATE INDEX IF NOT EXISTS decoded_events_by_emitter ON decoded_events (event, emitter, block_number)
    WHERE emitter IS NOT NULL;

-- Logs that are not decoded yet, or are to be decoded again.
CREATE TABLE IF NOT EXISTS undecoded_events (
    ordinal bigint PRIMARY KEY,    -- of contract_events
    address bytea NOT NULL,        -- as followed_contracts has it
    queued_by xid8 NOT NULL DEFAULT pg_current_xact_id() -- what another log or form at this ordinal changes
);
CREATE INDEX IF NOT EXISTS undecoded_events_by_address ON undecoded_events (address, ordinal);

-- The block from which on all logs of a followed contract are stored and decoded.
CREATE OR REPLACE FUNCTION events_complete_from(c followed_contracts) RETURNS bigint LANGUAGE sql STABLE
RETURN greatest(least(c.complete_from, (SELECT max(b.number) + 1 FROM blocks b)), (SELECT e.block_number + 1 FROM contract_events e WHERE e.ordinal = (
    SELECT max(u.ordinal) FROM undecoded_events u WHERE u.address = c.address)));

-- An earlier version decoded logs whenever they were read: its views are made again, and its logs decoded then.
DO $$
BEGIN
    IF to_regproc('event_arguments') IS NOT NULL THEN
        DROP FUNCTION IF EXISTS abi_text, abi_values, event_arguments, event_arguments_call, is_of_words, words_of_form,
            word_value, word_fits, abi_int, arguments_join, log_data, event_topics, is_of_none, topics_from, topic_address,
            arguments_match, followed_event, contract_event_record, count_added_events, count_removed_events,
            forget_event_counts CASCADE;
        DROP TYPE IF EXISTS abi_reading CASCADE;
        DROP INDEX IF EXISTS contract_events_by_topic1, contract_events_by_topic2, contract_events_by_topic3;
        DROP STATISTICS IF EXISTS contract_events_by_event;
        ALTER TABLE event_views ADD COLUMN IF NOT EXISTS id integer GENERATED ALWAYS AS IDENTITY UNIQUE;
        DELETE FROM event_views;
        UPDATE followed_contracts SET abi_digest = NULL;
        DELETE FROM contract_event_counts;
        INSERT INTO contract_event_counts
        SELECT e.address, coalesce(e.topic0, ''), count(*) FROM contract_events e GROUP BY 1, 2;
    END IF;
END
$$;
