-- The kept part of the chain where SCAN_KEEP_DAYS bounds it. Lists begin at a block, and
-- some time later the rows before it are removed, of long tables whole partitions. Blocks, contracts and
-- values derived from all rows stay: balances, holders and counters. See docs/operation.md.
CREATE TABLE IF NOT EXISTS retention (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    first_block bigint NOT NULL,   -- of lists
    decided_block bigint NOT NULL, -- the newest block when that was decided
    decided_at timestamptz NOT NULL,
    removed_to bigint NOT NULL     -- rows of blocks before this one are removed
);

-- Items with removed transfers: their ids, and the recipients of the last of these transfers.
CREATE TABLE IF NOT EXISTS removed_items (
    token_address bytea NOT NULL,
    token_id numeric(78, 0) NOT NULL,
    first_ordinal bigint NOT NULL, -- of the item's first transfer
    block_number bigint NOT NULL,  -- of that transfer
    last_recipient bytea NOT NULL,
    -- serves removed_first_transfer()
    PRIMARY KEY (token_address, token_id)
);
-- serves token_id_of()
CREATE UNIQUE INDEX IF NOT EXISTS removed_items_by_first_ordinal ON removed_items (first_ordinal);

-- Where addresses had last been seen, or acted, before they came back, if lists no longer have that block: a
-- reorganisation that takes back the newer blocks finds no row of it. Rows are of blocks that it may take back.
CREATE TABLE IF NOT EXISTS earlier_sightings (
    address bytea PRIMARY KEY,
    last_seen bigint NOT NULL,
    last_acted bigint,
    block_number bigint NOT NULL   -- the block in which it came back, or one of the same batch after it
);

-- The block at which lists begin; 0 where all rows are kept.
CREATE OR REPLACE FUNCTION first_kept_block() RETURNS bigint LANGUAGE sql STABLE
RETURN coalesce((SELECT r.first_block FROM retention r), 0);

-- Addresses whose rows stay (scan keep), with the block from which on they do: where lists began when it was added.
CREATE TABLE IF NOT EXISTS kept_addresses (
    address bytea PRIMARY KEY CHECK (octet_length(address) = 20),
    complete_from bigint NOT NULL DEFAULT first_kept_block()
);

-- The transactions of removed blocks in which such an address takes part, all rows of which stay.
CREATE TABLE IF NOT EXISTS kept_transactions (
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    PRIMARY KEY (block_number, transaction_index)
);

-- The block at which the lists of an address begin, or of another key.
CREATE OR REPLACE FUNCTION first_kept_block_of(key bytea) RETURNS bigint LANGUAGE sql STABLE
RETURN least(first_kept_block(), (SELECT k.complete_from FROM kept_addresses k WHERE k.address = key));

-- Whether all rows of a transaction are kept, or where some are, not removed yet.
CREATE OR REPLACE FUNCTION is_kept(block bigint, index integer) RETURNS boolean LANGUAGE sql STABLE
RETURN block >= first_kept_block()
    OR EXISTS (SELECT FROM kept_transactions k WHERE k.block_number = block AND k.transaction_index = index)
    OR EXISTS (SELECT FROM retention r WHERE block >= r.removed_to AND EXISTS (SELECT FROM kept_addresses));

-- The first block at or after a moment, or the number after the newest block; null for a null moment. As
-- times grow with the numbers, it is found by halving.
CREATE OR REPLACE FUNCTION first_block_since(moment timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE STRICT
AS $$
DECLARE
    low bigint := (SELECT min(b.number) - 1 FROM blocks b); -- before the moment
    high bigint := (SELECT max(b.number) + 1 FROM blocks b); -- not before it
    middle bigint;
BEGIN
    WHILE low + 1 < high LOOP
        middle := (low + high) / 2;
        IF (SELECT b.timestamp < moment FROM blocks b WHERE b.number = middle) THEN
            low := middle;
        ELSE
            high := middle;
        END IF;
    END LOOP;
    RETURN high;
END
$$;

-- The ordinal of an item's first transfer where that was removed; otherwise null.
CREATE OR REPLACE FUNCTION removed_first_transfer(token bytea, id numeric) RETURNS bigint
LANGUAGE sql STABLE
RETURN (SELECT r.first_ordinal FROM removed_items r WHERE r.token_address = token AND r.token_id = id);

-- The ordinal of an item's first transfer, removed or not; null where it was never moved.
CREATE OR REPLACE FUNCTION first_transfer_of(token bytea, id numeric) RETURNS bigint LANGUAGE sql STABLE
RETURN coalesce(removed_first_transfer(token, id),
    (SELECT min(o.ordinal) FROM token_transfers o WHERE o.token_address = token AND o.token_id = id));

-- The id of the item whose first transfer has an ordinal.
CREATE OR REPLACE FUNCTION token_id_of(first_transfer bigint) RETURNS numeric LANGUAGE sql STABLE
RETURN coalesce(
    (SELECT x.token_id FROM token_transfers x WHERE x.ordinal = first_transfer),
    (SELECT r.token_id FROM removed_items r WHERE r.first_ordinal = first_transfer));
