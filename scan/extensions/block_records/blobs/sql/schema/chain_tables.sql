-- Blobs of transactions (EIP-4844).
CREATE TABLE IF NOT EXISTS blobs (
    ordinal bigint PRIMARY KEY,    -- first_ordinal_in() its block, and its place among the block's
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    blob_index integer NOT NULL,   -- in its transaction
    versioned_hash bytea NOT NULL
);
-- serves the list that sql/lists.toml reads from it
CREATE INDEX IF NOT EXISTS blobs_by_versioned_hash ON blobs (versioned_hash, ordinal);
