-- Entries of transactions' authorizationLists (EIP-7702): an account lets code of another address run in its
-- name. Integers are kept as in transactions. What derives from other rows is of authorizations_changes().
CREATE TABLE IF NOT EXISTS authorizations (
    ordinal bigint PRIMARY KEY,    -- first_ordinal_in() its block, and its place among the block's
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    authorization_index integer NOT NULL, -- in its transaction
    chain_id bytea NOT NULL,       -- of 0: for every chain
    delegate bytea NOT NULL,       -- whose code runs; the zero address ends a delegation
    nonce bytea NOT NULL,
    y_parity bytea NOT NULL,
    signature_r bytea NOT NULL,
    signature_s bytea NOT NULL,
    authority bytea,               -- the account that signed it; null: no account can have
    fault text,                    -- 'wrong_chain', 'nonce_limit' or 'invalid_signature'; null: none
    authority_nonce numeric,       -- the account's then; null: of no effect, or not known
    is_valid boolean               -- whether it took effect; null: not known
);
-- serve the lists that sql/lists.toml reads from them
CREATE INDEX IF NOT EXISTS authorizations_by_authority ON authorizations (authority, ordinal)
    WHERE authority IS NOT NULL;
CREATE INDEX IF NOT EXISTS authorizations_by_delegate ON authorizations (delegate, ordinal);
-- serves authorizations_changes()
CREATE INDEX IF NOT EXISTS authorizations_of_authority ON authorizations (authority, ordinal)
    WHERE fault IS NULL;
-- serves authorizations_changes(), and what an account delegates to
CREATE INDEX IF NOT EXISTS authorizations_in_effect ON authorizations (authority, ordinal)
    WHERE is_valid IS NOT FALSE AND fault IS NULL;
