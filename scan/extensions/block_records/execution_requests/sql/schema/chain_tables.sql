-- Requests to the consensus layer (EIP-7685), as logs of the deposit contract and of the contracts of
-- EIP-7002, EIP-7251 and EIP-8282 submit them.
CREATE TABLE IF NOT EXISTS execution_requests (
    ordinal bigint PRIMARY KEY,    -- first_ordinal_in() its block, and its place among the block's
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    log_index integer NOT NULL,
    type bytea NOT NULL,           -- as request_type_name() names it
    address bytea,                 -- who submitted it; of deposits where withdrawals go to, if that is one
    pubkey bytea NOT NULL,         -- of the validator or builder; of a consolidation that of its source
    details bytea NOT NULL         -- what follows the key, encoded as for the consensus layer
);
-- serve the lists that sql/lists.toml reads from them; by type also queries/execution_requests_get_included
CREATE INDEX IF NOT EXISTS execution_requests_by_type ON execution_requests (type, ordinal);
CREATE INDEX IF NOT EXISTS execution_requests_by_address ON execution_requests (address, ordinal);
CREATE INDEX IF NOT EXISTS execution_requests_by_pubkey ON execution_requests (pubkey, ordinal);
