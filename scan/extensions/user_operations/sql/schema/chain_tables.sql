-- User operations (ERC-4337) of the canonical entry points, by their UserOperationEvent.
CREATE TABLE IF NOT EXISTS user_operations (
    ordinal bigint PRIMARY KEY,    -- first_ordinal_in() its block, and its place among the block's
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    log_index integer NOT NULL,    -- of its event, the last of its logs
    first_log_index integer,       -- of its execution; null: the entry point emitted no beginning
    hash bytea NOT NULL,
    entry_point bytea NOT NULL,
    sender bytea NOT NULL,
    paymaster bytea,               -- null: the sender paid
    bundler bytea NOT NULL,        -- who sent the transaction
    nonce numeric(78, 0) NOT NULL,
    success boolean NOT NULL,
    fee numeric(78, 0) NOT NULL,   -- in wei
    gas_used numeric(78, 0) NOT NULL,
    factory bytea,                 -- of an account that was deployed for it
    revert_data bytea              -- at most 2048 bytes; null: nothing reverted
);
-- serves queries/user_operations_get
CREATE INDEX IF NOT EXISTS user_operations_by_hash ON user_operations USING hash (hash);
-- serve the lists that sql/lists.toml reads from them
CREATE INDEX IF NOT EXISTS user_operations_by_sender ON user_operations (sender, ordinal);
CREATE INDEX IF NOT EXISTS user_operations_by_paymaster ON user_operations (paymaster, ordinal)
    WHERE paymaster IS NOT NULL;
CREATE INDEX IF NOT EXISTS user_operations_by_bundler ON user_operations (bundler, ordinal);
CREATE INDEX IF NOT EXISTS user_operations_by_entry_point
    ON user_operations (entry_point, ordinal);
