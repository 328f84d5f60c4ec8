CREATE TABLE IF NOT EXISTS pings (
    ordinal bigint PRIMARY KEY,
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    pinger bytea NOT NULL
);
-- serves the list that lists.toml reads from it
CREATE INDEX IF NOT EXISTS pings_by_pinger ON pings (pinger, ordinal);
