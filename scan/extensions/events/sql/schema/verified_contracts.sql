-- Contracts whose events are tables, and how their events are named and decoded.

CREATE TABLE IF NOT EXISTS followed_contracts (
    address bytea PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[a-z][a-z0-9_]{0,30}$'), -- with which its views begin
    complete_from bigint NOT NULL DEFAULT 0, -- from this block on contract_events has all its logs
    is_automatic boolean NOT NULL, -- followed since a build of SCAN_ARTIFACTS has its code
    abi json,                      -- as it was given; null: by its verification or build
    abi_digest bytea,              -- of the events by which the views were made; null: they are to be made
    implementations bytea[] NOT NULL DEFAULT '{}', -- whose ABIs the views have, too
    problem text,                  -- why older logs are not filled
    views_problem text,            -- why its views cannot be made as its ABI is
    events_left_out integer NOT NULL DEFAULT 0, -- of its ABI, which are no views: they exceed bounds
    added_at timestamptz NOT NULL DEFAULT now()
);
-- Those that were removed by hand, which are not followed again by themselves.
CREATE TABLE IF NOT EXISTS unfollowed_contracts (
    address bytea PRIMARY KEY
);

-- The first topics of the forms of a view, in hex.
CREATE OR REPLACE FUNCTION topics_of_forms(forms jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(SELECT f.value->>'topic0' FROM jsonb_array_elements(forms) AS f WHERE f.value->>'topic0' IS NOT NULL);

-- A view for each event of a followed contract. Names and columns stay once they are here.
CREATE TABLE IF NOT EXISTS event_views (
    view_name text PRIMARY KEY CHECK (octet_length(view_name) <= 63),
    address bytea NOT NULL REFERENCES followed_contracts ON DELETE CASCADE,
    event text NOT NULL,           -- as the ABI has it
    columns jsonb NOT NULL,        -- [[name, SQL type], ...] after those that all views have, in the view's order
    forms jsonb NOT NULL,          -- by which logs are decoded, see EventForm in event_tables.py
    -- Of the forms, which are large where an ABI is: those of other events are not read for a log.
    topics text[] NOT NULL GENERATED ALWAYS AS (topics_of_forms(forms)) STORED
);
CREATE INDEX IF NOT EXISTS event_views_by_address ON event_views (address);
