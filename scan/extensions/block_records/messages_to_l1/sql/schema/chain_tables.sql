-- Messages from a rollup to L1, by the event of the chain's own contract. Fields that the chain's messages
-- do not have are null.
CREATE TABLE IF NOT EXISTS messages_to_l1 (
    ordinal bigint PRIMARY KEY,    -- first_ordinal_in() its block, and its place among the block's
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    log_index integer NOT NULL,
    hash bytea NOT NULL,           -- by which L1 knows it
    nonce numeric(78, 0),          -- on Arbitrum its position
    sender bytea NOT NULL,
    target bytea,                  -- on L1
    value numeric(78, 0),          -- in wei
    gas_limit numeric(78, 0),      -- on L1
    data bytea,                    -- null: longer than 16,384 bytes
    data_size integer NOT NULL     -- in bytes
);
-- serve the lists that sql/lists.toml reads from them
CREATE INDEX IF NOT EXISTS messages_to_l1_by_hash ON messages_to_l1 (hash, ordinal);
CREATE INDEX IF NOT EXISTS messages_to_l1_by_sender ON messages_to_l1 (sender, ordinal);
CREATE INDEX IF NOT EXISTS messages_to_l1_by_target ON messages_to_l1 (target, ordinal)
    WHERE target IS NOT NULL;
