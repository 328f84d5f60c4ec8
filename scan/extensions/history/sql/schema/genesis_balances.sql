-- Balances at genesis, which no block has.

-- What addresses had before the first block, of those whose rows did not explain their balance: as read from
-- the node when somebody asked. Block 0 never changes, so that a row is valid for as long as the database.
CREATE TABLE IF NOT EXISTS genesis_balances (
    address bytea PRIMARY KEY,
    balance numeric(78, 0) NOT NULL, -- in wei
    is_proven boolean NOT NULL       -- by a Merkle proof against the stateRoot of block 0
);
