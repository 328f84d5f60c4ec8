-- Derived tables: they follow from the base tables, and can be recomputed.

-- Net balance by events. A balance of zero has no row; below zero only where the events lie.
CREATE TABLE IF NOT EXISTS token_holders (
    holder bytea NOT NULL,
    token_address bytea NOT NULL,
    balance numeric NOT NULL,      -- a BEP1155's is the sum over its ids, so it may exceed uint256
    PRIMARY KEY (holder, token_address)
) PARTITION BY RANGE (holder);
-- Balances are written in the order of the primary key, so one partition after the other: then not the
-- whole index by balance, which has another order, needs to be in memory, but an eighth of it.
CREATE TABLE IF NOT EXISTS token_holders_0 PARTITION OF token_holders
    FOR VALUES FROM (MINVALUE) TO ('\x20');
CREATE TABLE IF NOT EXISTS token_holders_2 PARTITION OF token_holders
    FOR VALUES FROM ('\x20') TO ('\x40');
CREATE TABLE IF NOT EXISTS token_holders_4 PARTITION OF token_holders
    FOR VALUES FROM ('\x40') TO ('\x60');
CREATE TABLE IF NOT EXISTS token_holders_6 PARTITION OF token_holders
    FOR VALUES FROM ('\x60') TO ('\x80');
CREATE TABLE IF NOT EXISTS token_holders_8 PARTITION OF token_holders
    FOR VALUES FROM ('\x80') TO ('\xa0');
CREATE TABLE IF NOT EXISTS token_holders_a PARTITION OF token_holders
    FOR VALUES FROM ('\xa0') TO ('\xc0');
CREATE TABLE IF NOT EXISTS token_holders_c PARTITION OF token_holders
    FOR VALUES FROM ('\xc0') TO ('\xe0');
CREATE TABLE IF NOT EXISTS token_holders_e PARTITION OF token_holders
    FOR VALUES FROM ('\xe0') TO (MAXVALUE);
-- serves queries/tokens_list_holders
CREATE INDEX IF NOT EXISTS token_holders_by_balance
    ON token_holders (token_address, balance, holder);

-- How many holders of a token have balances in a range, so that a page in the middle of a large token's
-- holders starts near by. Only of tokens that have rows here, which indexer/tokens_add_holders decides;
-- triggers of token_holders count them, whoever writes there.
CREATE TABLE IF NOT EXISTS token_holder_ranges (
    token_address bytea NOT NULL,
    balance_range integer NOT NULL, -- see holder_range()
    holder_count bigint NOT NULL,
    -- serves queries/tokens_list_holders
    PRIMARY KEY (token_address, balance_range)
) WITH (fillfactor = 70);          -- counts change in place

-- The range that a holder is in; ranges follow each other as (balance, holder) do. A range has the balances
-- with the same two leading digits and number of digits. The least of those (1200 of 1200 to 1299), which
-- many may hold, has a range for each first byte of the holder's address. Null where nothing is held.
CREATE OR REPLACE FUNCTION holder_range(balance numeric, holder bytea) RETURNS integer
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN balance > 0 THEN
    (length(balance::text) * 90 + rpad(left(balance::text, 2), 2, '0')::integer - 100) * 257
        + CASE WHEN ltrim(substr(balance::text, 3), '0') = '' THEN get_byte(holder, 0)
            ELSE 256 END END;

-- The first (balance, holder) of a range: rows before it are in earlier ranges.
CREATE OR REPLACE FUNCTION range_balance(balance_range integer) RETURNS numeric
LANGUAGE sql IMMUTABLE
RETURN ((balance_range / 257 % 90 + 10) || 'e' || (balance_range / 257 / 90 - 1))::numeric;

CREATE OR REPLACE FUNCTION range_holder(balance_range integer) RETURNS bytea
LANGUAGE sql IMMUTABLE
RETURN CASE balance_range % 257 WHEN 0 THEN '\x'::bytea
    WHEN 256 THEN decode(repeat('ff', 21), 'hex')
    ELSE decode(lpad(to_hex(balance_range % 257), 2, '0'), 'hex') END;

-- Those of these tokens whose holders are counted by range.
CREATE OR REPLACE FUNCTION tokens_counted_by_range(tokens bytea[]) RETURNS SETOF bytea
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT k.token_address
    FROM unnest(tokens) AS k (token_address)
    CROSS JOIN LATERAL (
        SELECT
        FROM token_holder_ranges r
        WHERE r.token_address = k.token_address
        ORDER BY r.balance_range -- so that the index is read, whatever share of all rows it has
        LIMIT 1) AS counted
$$;

-- Counts holders by range in a trigger. Its argument is 1 for new rows, -1 for old ones.
CREATE OR REPLACE FUNCTION count_holder_ranges() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
DECLARE
    counted bytea[] := ARRAY(SELECT tokens_counted_by_range(
        ARRAY(SELECT DISTINCT c.token_address FROM changed c)));
BEGIN
    INSERT INTO token_holder_ranges AS r (token_address, balance_range, holder_count)
    SELECT c.token_address, holder_range(c.balance, c.holder), count(*) * TG_ARGV[0]::integer
    FROM changed c
    WHERE c.token_address = ANY (counted) AND c.balance > 0
    GROUP BY 1, 2
    ON CONFLICT (token_address, balance_range)
        DO UPDATE SET holder_count = r.holder_count + EXCLUDED.holder_count;
    RETURN NULL;
END
$$;
CREATE OR REPLACE FUNCTION move_between_holder_ranges() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
DECLARE
    counted bytea[] := ARRAY(SELECT tokens_counted_by_range(
        ARRAY(SELECT DISTINCT c.token_address FROM changed c)));
BEGIN
    INSERT INTO token_holder_ranges AS r (token_address, balance_range, holder_count)
    SELECT m.token_address, m.balance_range, sum(m.change)
    FROM (
        SELECT c.token_address, holder_range(c.balance, c.holder) AS balance_range, 1 AS change
        FROM changed c
        WHERE c.token_address = ANY (counted) AND c.balance > 0
        UNION ALL
        SELECT b.token_address, holder_range(b.balance, b.holder), -1
        FROM before b
        WHERE b.token_address = ANY (counted) AND b.balance > 0
    ) AS m
    GROUP BY 1, 2
    HAVING sum(m.change) <> 0
    ON CONFLICT (token_address, balance_range)
        DO UPDATE SET holder_count = r.holder_count + EXCLUDED.holder_count;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER holders_inserted AFTER INSERT ON token_holders
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_holder_ranges('1');
CREATE OR REPLACE TRIGGER holders_deleted AFTER DELETE ON token_holders
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_holder_ranges('-1');
CREATE OR REPLACE TRIGGER holders_updated AFTER UPDATE ON token_holders
    REFERENCING OLD TABLE AS before NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION move_between_holder_ranges();

-- What tokens are ordered by, of those that have not ended, and what a text is looked for in.
CREATE TABLE IF NOT EXISTS token_ranks (
    address bytea PRIMARY KEY,
    type text NOT NULL,
    name text NOT NULL,
    symbol text NOT NULL,
    holders bigint NOT NULL,       -- as counted_holders() has it
    transfers bigint NOT NULL      -- of one whose events do not add up as many as these holders, who got something
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);  -- its indexes stay a seventh smaller
-- serve queries/tokens_list, tokens_list_by_type and tokens_list_by_transfers, where rows before a page are read
-- from their index alone
CREATE INDEX IF NOT EXISTS token_ranks_by_holders ON token_ranks (holders, address);
CREATE INDEX IF NOT EXISTS token_ranks_by_type ON token_ranks (type, holders, address);
CREATE INDEX IF NOT EXISTS token_ranks_by_transfers ON token_ranks (transfers, address);

-- Tokens without a supply_block, which are to be read again.
CREATE TABLE IF NOT EXISTS stale_tokens (
    address bytea PRIMARY KEY,
    block_number bigint NOT NULL   -- as that of tokens
);
-- serves indexer/tokens_list_stale
CREATE INDEX IF NOT EXISTS stale_tokens_by_block ON stale_tokens (block_number, address);

-- Has both follow tokens, whoever writes there. No statement joins, and rows are found by an index: a plan that was
-- made for few rows is used for many, too.
CREATE OR REPLACE FUNCTION rank_tokens() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO stale_tokens (address, block_number)
        SELECT c.address, c.block_number FROM changed c WHERE c.supply_block IS NULL
        ON CONFLICT DO NOTHING;
        INSERT INTO token_ranks (address, type, name, symbol, holders, transfers)
        SELECT c.address, c.type, c.name, c.symbol,
            CASE WHEN c.contradicted IS NULL THEN c.holder_count ELSE coalesce(c.drawn_holders, 0) END,
            CASE WHEN c.contradicted IS NULL THEN c.transfer_count ELSE coalesce(c.drawn_holders, 0) END
        FROM changed c
        WHERE c.ended_in IS NULL AND c.has_holdings
        ON CONFLICT DO NOTHING;
    ELSIF TG_OP = 'DELETE' THEN
        DELETE FROM stale_tokens s WHERE s.address = ANY (ARRAY(SELECT b.address FROM before b));
        DELETE FROM token_ranks r WHERE r.address = ANY (ARRAY(SELECT b.address FROM before b));
    ELSE
        DELETE FROM stale_tokens s
        WHERE s.address = ANY (ARRAY(
            SELECT n.address
            FROM (
                SELECT b.address, b.block_number FROM before b WHERE b.supply_block IS NULL
                EXCEPT
                SELECT c.address, c.block_number FROM changed c WHERE c.supply_block IS NULL) AS n));
        INSERT INTO stale_tokens (address, block_number)
        SELECT c.address, c.block_number FROM changed c WHERE c.supply_block IS NULL
        EXCEPT
        SELECT b.address, b.block_number FROM before b WHERE b.supply_block IS NULL
        ON CONFLICT DO NOTHING;
        DELETE FROM token_ranks r
        WHERE r.address = ANY (ARRAY(
            SELECT c.address FROM changed c WHERE c.ended_in IS NOT NULL OR NOT c.has_holdings));
        INSERT INTO token_ranks (address, type, name, symbol, holders, transfers)
        SELECT c.address, c.type, c.name, c.symbol,
            CASE WHEN c.contradicted IS NULL THEN c.holder_count ELSE coalesce(c.drawn_holders, 0) END,
            CASE WHEN c.contradicted IS NULL THEN c.transfer_count ELSE coalesce(c.drawn_holders, 0) END
        FROM changed c
        WHERE c.ended_in IS NULL AND c.has_holdings
        EXCEPT
        SELECT b.address, b.type, b.name, b.symbol,
            CASE WHEN b.contradicted IS NULL THEN b.holder_count ELSE coalesce(b.drawn_holders, 0) END,
            CASE WHEN b.contradicted IS NULL THEN b.transfer_count ELSE coalesce(b.drawn_holders, 0) END
        FROM before b
        WHERE b.ended_in IS NULL AND b.has_holdings
        ON CONFLICT (address) DO UPDATE
            SET type = EXCLUDED.type, name = EXCLUDED.name, symbol = EXCLUDED.symbol,
                holders = EXCLUDED.holders, transfers = EXCLUDED.transfers;
    END IF;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER tokens_inserted AFTER INSERT ON tokens
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION rank_tokens();
CREATE OR REPLACE TRIGGER tokens_deleted AFTER DELETE ON tokens
    REFERENCING OLD TABLE AS before
    FOR EACH STATEMENT EXECUTE FUNCTION rank_tokens();
CREATE OR REPLACE TRIGGER tokens_updated AFTER UPDATE ON tokens
    REFERENCING OLD TABLE AS before NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION rank_tokens();

-- Items: every id of a BEP721 or BEP1155 that was ever moved, named by the ordinal of its first
-- transfer. That transfer has the id, of up to 78 digits, which so stands in no index here.
CREATE TABLE IF NOT EXISTS token_items (
    token_address bytea NOT NULL,
    first_ordinal bigint NOT NULL,
    transfer_count bigint NOT NULL,
    owner bytea,                   -- of a BEP721, by its newest transfer; null: burnt, or a BEP1155
    owner_count bigint,            -- of a BEP1155: who have more than none; null of a BEP721
    -- serves queries/tokens_list_items, queries/token_items_get
    PRIMARY KEY (token_address, first_ordinal)
);
-- serves queries/addresses_list_items
CREATE INDEX IF NOT EXISTS token_items_by_owner ON token_items (owner, first_ordinal)
    WHERE owner IS NOT NULL;

-- Balances of BEP1155 items, net by events: as in token_holders, zero has no row, and a balance is below
-- zero only where the events lie.
CREATE TABLE IF NOT EXISTS item_balances (
    holder bytea NOT NULL,
    first_ordinal bigint NOT NULL, -- of the item
    balance numeric NOT NULL,
    -- serves queries/addresses_list_items
    PRIMARY KEY (holder, first_ordinal)
);
-- serves queries/token_items_get
CREATE INDEX IF NOT EXISTS item_balances_by_item ON item_balances (first_ordinal, balance, holder);

-- Every address seen, its exact counters, and its balance where the indexer has read it.
CREATE TABLE IF NOT EXISTS addresses (
    address bytea PRIMARY KEY,
    first_seen bigint NOT NULL,    -- block numbers
    last_seen bigint NOT NULL,
    unwound boolean NOT NULL DEFAULT false, -- last_seen is to be found anew: never outlives unwind
    balance_stale boolean NOT NULL DEFAULT true, -- balance is to be read
    transaction_count bigint NOT NULL,
    sent_count bigint NOT NULL,
    received_count bigint NOT NULL,
    transfer_count bigint NOT NULL,
    transfer_sent_count bigint NOT NULL,
    transfer_received_count bigint NOT NULL,
    trade_count bigint NOT NULL,
    balance numeric(78, 0),
    balance_block bigint,          -- the block balance was read at; null: never
    item_count bigint,             -- items it has; null: none, which takes no room
    internal_count bigint NOT NULL, -- of internal transfers
    internal_sent_count bigint NOT NULL,
    internal_received_count bigint NOT NULL,
    log_count bigint,              -- logs it emitted, of those that are stored; null: none
    -- Rows of its history that have no other counter; null: none
    coin_sent_count bigint,        -- transactions that sent coin, also to itself
    coin_received_count bigint,    -- transactions of others that brought coin
    withdrawal_count bigint,
    produced_count bigint,         -- blocks it produced that have transactions
    net_wei numeric,               -- coin that came in, less what went out; null: 0
    last_acted bigint,             -- the newest block with a role of is_acting(); null: none
    CONSTRAINT balance_has_its_block CHECK ((balance IS NULL) = (balance_block IS NULL))
) WITH (fillfactor = 80);          -- counters change in place, which moves no index entry
-- serves indexer/addresses_restore_last_seen
CREATE INDEX IF NOT EXISTS addresses_unwound ON addresses (address) WHERE unwound;
-- serves indexer/addresses_list_stale, and indexer/blocks_unwind: balances read in blocks that are taken back
CREATE INDEX IF NOT EXISTS addresses_by_balance_block ON addresses (balance_stale, balance_block);

-- Statistics of a day (UTC). A block belongs to the newest day that it or a block before it has, so that
-- the blocks of a day follow each other whatever their times say. A day without blocks has no row.
CREATE TABLE IF NOT EXISTS daily_stats (
    day date PRIMARY KEY,
    first_block bigint NOT NULL UNIQUE,
    last_block bigint NOT NULL,
    transaction_count bigint NOT NULL,
    failed_transaction_count bigint NOT NULL,
    active_address_count bigint NOT NULL DEFAULT 0, -- addresses that acted in its blocks, see is_acting()
    new_address_count bigint NOT NULL DEFAULT 0,    -- addresses that never acted before
    created_contract_count bigint NOT NULL, -- by transactions and, as far as traces are known, by contracts
    token_transfer_count bigint NOT NULL,
    dex_trade_count bigint NOT NULL,
    gas_used numeric NOT NULL,
    fees_wei numeric NOT NULL,     -- what senders paid, with blobs
    burnt_wei numeric NOT NULL     -- base fees, as far as they are known, and what blobs cost
) WITH (fillfactor = 50);          -- the newest one changes in place with every batch

-- The numbers of entries of lists whose rows are few, such as those of user operations. A list without
-- entries has no row.
CREATE TABLE IF NOT EXISTS list_counts (
    list text NOT NULL,            -- its name in sql/lists.toml
    key bytea NOT NULL,            -- an address; empty of the list of all rows of a table
    count bigint NOT NULL,
    PRIMARY KEY (list, key)
) WITH (fillfactor = 80);          -- counts change in place

-- Every 128th entry of a list, so that a deep page starts near by.
CREATE TABLE IF NOT EXISTS list_checkpoints (
    place bigint NOT NULL,         -- in the list: from 0, oldest first
    ordinal bigint NOT NULL,       -- of the row that stands there
    block_number bigint NOT NULL,
    list text NOT NULL,            -- 'transactions_by_from', …: see indexer/lists_insert_checkpoints.sql
    key bytea NOT NULL,            -- an address, or the name of an exchange in UTF-8
    PRIMARY KEY (list, key, place)
);
CREATE INDEX IF NOT EXISTS list_checkpoints_by_block ON list_checkpoints (block_number);
