-- Memos: texts in the inputs of transactions.
CREATE TABLE IF NOT EXISTS memos (
    ordinal bigint PRIMARY KEY,    -- first_ordinal_in() its block, and its place among the block's
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    text_hash bytea NOT NULL,      -- Keccak-256 of the text
    text text NOT NULL             -- in one line, without invisible characters; at most 2,048 bytes
);
-- serves the list that lists.toml reads from it
CREATE INDEX IF NOT EXISTS memos_by_text ON memos (text_hash, ordinal);
