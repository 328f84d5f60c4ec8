-- The state of Scan's own database, node and work.

-- The version of this database, see scan/database/migrations.py: the files of migrations/ that it has been
-- through, or was made with, and the schema.sql that was applied last.
CREATE TABLE IF NOT EXISTS migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS schema_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    digest bytea NOT NULL          -- SHA-256 of schema.sql
);

-- The one chain that this database holds.
CREATE TABLE IF NOT EXISTS chain (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    chain_id numeric(78, 0) NOT NULL,
    genesis_hash bytea NOT NULL,
    start_block bigint NOT NULL,
    -- The block after which a development node's own blocks begin, where it forks the chain; else null.
    fork_block bigint,
    is_development boolean NOT NULL DEFAULT false, -- whether the node says that it is anvil's or Hardhat's
    token_count bigint NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 0, -- grows with every change to what is indexed
    -- Which logs are stored, from the first block on: those of topics in event_topics where standard.
    stored_logs text NOT NULL DEFAULT 'none'
        CONSTRAINT chain_stored_logs CHECK (stored_logs IN ('all', 'none', 'standard')),
    followed_version integer NOT NULL DEFAULT 0 -- grows when other contracts are followed: the indexer begins anew
);

-- From which block on every block with transactions has a row in block_bodies; no row while SCAN_BODIES=off.
CREATE TABLE IF NOT EXISTS bodies_from (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    block_number bigint NOT NULL
);

-- The tables of the extensions that are on. Once an extension is turned on, its derived tables are filled anew,
-- and its tables of blocks' rows have those of all blocks from then on.
CREATE TABLE IF NOT EXISTS filled_tables (
    name text PRIMARY KEY,
    first_block bigint NOT NULL DEFAULT 0 -- from this block on it has the rows of all blocks
);

-- Tables whose rows are to be derived again from stored blocks (scan rebuild). Those of blocks up to the next one
-- wait in expected_<name>, until all are there; null: it is not begun.
CREATE TABLE IF NOT EXISTS table_rebuilds (
    name text PRIMARY KEY,
    first_block bigint,
    last_block bigint,
    last_hash bytea,               -- of the last block when it was begun: a fork may replace it
    next_block bigint,
    selection text                 -- of logs, as chain.stored_logs has it then
);

-- The indexer's messages to operators, also before it knows a chain.
CREATE TABLE IF NOT EXISTS indexer_status (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    node_head bigint,              -- the node's newest block; null where it is not known now
    problem text,                  -- why the head does not advance, null when it does
    checked_at timestamptz NOT NULL,
    state_by_hash boolean          -- whether the node takes block hashes (EIP-1898); null: not tried
);

-- A bulk backfill (scan backfill chain) from its beginning until it is accepted. Meanwhile the tables
-- hold a part of the chain or nothing, blocks none of it, and the indexer writes nothing.
CREATE TABLE IF NOT EXISTS bulk_backfill (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    folder text NOT NULL,          -- of its files
    first_block bigint NOT NULL,
    last_block bigint NOT NULL,
    range_blocks integer NOT NULL, -- in one file
    stage text NOT NULL CHECK (stage IN ('spool', 'inspect', 'load', 'accept')),
    inspected_to bigint,           -- contracts are inspected up to this block; null: of none
    loaded text[] NOT NULL DEFAULT '{}', -- tables that are
    progress double precision,     -- from 0 to 1; null: not recorded yet
    seconds_left bigint            -- by the speed of the run that records it; null: not known yet
);

-- Rows of blocks that were indexed without traces, read later (scan backfill traces): they wait here until
-- all are there, and are then put into the tables of the chain at once.
CREATE TABLE IF NOT EXISTS trace_backfill (
    block_number bigint PRIMARY KEY,
    hash bytea NOT NULL,
    rows json NOT NULL             -- lines of COPY by table, indexes of failed transactions, codes
);

-- Makes a schema unless it is there, or says what the owner of the database has to run.
CREATE OR REPLACE FUNCTION make_schema(schema_name name) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF to_regnamespace(schema_name::text) IS NULL THEN
        IF NOT has_database_privilege(current_database(), 'CREATE') THEN
            RAISE insufficient_privilege USING HINT = format(
                'The role %1$I may not create the schema %2$I, which this version needs. Let the owner'
                ' of the database run: CREATE SCHEMA %2$I AUTHORIZATION %1$I', current_user, schema_name);
        END IF;
        EXECUTE format('CREATE SCHEMA %I', schema_name);
    END IF;
END
$$;
