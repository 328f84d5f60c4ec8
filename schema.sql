-- The whole schema, safe to repeat. Amounts are uint256 (numeric(78,0)), hashes and addresses bytea.
-- Base tables hold what the chain says; derived ones (addresses, token_holders, token_items,
-- item_balances, dexes, daily_stats, pool_candles, list_checkpoints and the counters of tokens and
-- pools) follow from them and can be recomputed.

-- What scan/migrate.py has brought this database to: through which files of migrations/ it went, or
-- with which it was born; and which schema.sql was applied last.
CREATE TABLE IF NOT EXISTS migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS schema_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    digest bytea NOT NULL          -- SHA-256 of schema.sql
);

-- The one chain that this database holds, and how far it has come.
CREATE TABLE IF NOT EXISTS chain (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    chain_id numeric(78, 0) NOT NULL,
    genesis_hash bytea NOT NULL,
    start_block bigint NOT NULL,
    token_count bigint NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 0, -- grows with every change to what is indexed
    -- Which logs are stored, from the first block on: those of topics in event_topics where standard.
    stored_logs text NOT NULL DEFAULT 'none'
        CONSTRAINT chain_stored_logs CHECK (stored_logs IN ('all', 'none', 'standard'))
);

-- What the indexer has to tell operators, also while it knows no chain yet.
CREATE TABLE IF NOT EXISTS indexer_status (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    node_head bigint,              -- the newest block number the node has told
    problem text,                  -- why the head does not advance, null when it does
    checked_at timestamptz NOT NULL,
    state_by_hash boolean          -- whether the node takes block hashes (EIP-1898); null: not tried
);

-- A bulk backfill (scan backfill chain) from its beginning until it is accepted. Meanwhile the tables
-- hold a part of the chain or nothing, blocks none of it, and the indexer writes nothing.
CREATE TABLE IF NOT EXISTS bulk_backfill (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    folder text NOT NULL,          -- of its files
    first_block bigint NOT NULL,
    last_block bigint NOT NULL,
    range_blocks integer NOT NULL, -- in one file
    stage text NOT NULL CHECK (stage IN ('spool', 'inspect', 'load', 'accept')),
    inspected_to bigint,           -- contracts are inspected up to this block; null: of none
    loaded text[] NOT NULL DEFAULT '{}', -- tables that are
    progress double precision,     -- from 0 to 1; null: not recorded yet
    seconds_left bigint            -- by the speed of the run that records it; null: not known yet
);

-- The default of blocks.log_count, which only an indexer that knows of no logs leaves to it.
CREATE OR REPLACE FUNCTION log_count_of_older_release() RETURNS integer
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF EXISTS (SELECT FROM chain WHERE stored_logs <> 'none') THEN
        RAISE 'this database stores logs, which a release before 0009 would leave out'
            USING HINT = 'Start the indexer of the release that made it.';
    END IF;
    RETURN 0;
END
$$;

-- The rows of transactions, token_transfers, dex_trades, internal_transfers and logs are numbered by
-- their ordinal: from 0 in the chain's order, without gaps. *_before is how many rows older blocks have,
-- which is the ordinal
-- of a block's first one: two probes turn a range of blocks into a range of ordinals.
CREATE TABLE IF NOT EXISTS blocks (
    number bigint PRIMARY KEY,
    timestamp timestamptz NOT NULL,
    transactions_before bigint NOT NULL,
    token_transfers_before bigint NOT NULL,
    dex_trades_before bigint NOT NULL,
    transaction_count integer NOT NULL,
    token_transfer_count integer NOT NULL,
    dex_trade_count integer NOT NULL,
    hash bytea NOT NULL UNIQUE,
    parent_hash bytea NOT NULL,
    miner bytea NOT NULL,
    gas_used numeric(78, 0) NOT NULL,
    gas_limit numeric(78, 0) NOT NULL,
    gas_price_sum numeric NOT NULL, -- over its transactions, for the network's average
    base_fee_per_gas numeric(78, 0), -- null before EIP-1559, and where it is yet to be filled
    internal_transfers_before bigint NOT NULL DEFAULT 0,
    internal_transfer_count integer NOT NULL DEFAULT 0,
    withdrawal_count integer,      -- null: it has no list of withdrawals, or an older version wrote it
    -- Whether its traces were read; null: none are needed, since no transaction ran code. A block of
    -- an older version needs them where it has transactions.
    traced boolean DEFAULT false,
    -- How many blocks before it were traced, and how many lack traces; null: an older version wrote it
    traced_before bigint,
    untraced_before bigint,
    logs_before bigint NOT NULL DEFAULT 0, -- of those that are stored
    log_count integer NOT NULL DEFAULT log_count_of_older_release(),
    size bigint                    -- bytes of its RLP; null: its node gives none, or yet to be filled
);
-- serves queries/addresses_get, queries/addresses_list: the newest block after which stored balances
-- may have changed unseen
CREATE INDEX IF NOT EXISTS blocks_untraced ON blocks (number) WHERE traced IS FALSE;
-- serves indexer/addresses_restore_last_seen
CREATE INDEX IF NOT EXISTS blocks_by_miner ON blocks (miner, number);
-- serves queries/history_list: blocks whose producer may have earned something
CREATE INDEX IF NOT EXISTS blocks_with_fees ON blocks (miner, number) WHERE transaction_count > 0;

-- Amounts here are as rarely zero as they are round, and numeric takes 5 to 9 bytes for each. What
-- came with 0008 is kept as its transaction has it: unsigned, big-endian, without leading zeros (zero
-- has no byte), which integer_text() reads: 22.5 bytes a row instead of 35, measured at 1 M rows, and
-- any uint256 fits. Rows from before have none of it, until `scan backfill fields` has filled them:
-- `type` is null in those alone. Else null means that the node gave no such field.
CREATE TABLE IF NOT EXISTS transactions (
    ordinal bigint PRIMARY KEY,    -- its block's transactions_before + transaction_index
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    status boolean NOT NULL,
    hash bytea NOT NULL,
    from_address bytea NOT NULL,
    to_address bytea,              -- null where a contract is created
    contract_address bytea,        -- the contract it created
    value numeric(78, 0) NOT NULL,
    gas_price numeric(78, 0) NOT NULL,
    gas_used numeric(78, 0) NOT NULL,
    type bytea,                    -- EIP-2718's
    nonce bytea,
    gas_limit bytea,
    max_fee_per_gas bytea,
    max_priority_fee_per_gas bytea,
    max_fee_per_blob_gas bytea,
    cumulative_gas_used bytea,
    method bytea,                  -- the first bytes of its input, at most 4; null without input
    blob_versioned_hashes bytea[],
    blob_gas_price bytea           -- null without blobs, or where it is yet to be filled
);
-- A hash index takes a third of a btree's room; serves queries/transactions_get
CREATE INDEX IF NOT EXISTS transactions_by_hash ON transactions USING hash (hash);
-- serve queries/transactions_list_by_key, queries/transactions_list_by_keys, queries/addresses_get,
-- indexer/addresses_restore_last_seen
CREATE INDEX IF NOT EXISTS transactions_by_from ON transactions (from_address, ordinal);
CREATE INDEX IF NOT EXISTS transactions_by_to ON transactions (to_address, ordinal)
    WHERE to_address <> from_address;
CREATE INDEX IF NOT EXISTS transactions_by_contract ON transactions (contract_address, ordinal)
    WHERE contract_address <> from_address;
-- Transfers to oneself stand apart, so that an address's lists merge without counting them twice.
CREATE INDEX IF NOT EXISTS transactions_to_self ON transactions (to_address, ordinal)
    WHERE to_address IS NOT DISTINCT FROM from_address;
-- serve queries/history_list: most transactions that call contracts move no coin themselves
CREATE INDEX IF NOT EXISTS transactions_coin_by_from ON transactions (from_address, ordinal)
    WHERE status AND value > 0;
CREATE INDEX IF NOT EXISTS transactions_coin_by_to
    ON transactions (coalesce(to_address, contract_address), ordinal)
    WHERE status AND value > 0 AND coalesce(to_address, contract_address) <> from_address;
-- serves queries/transactions_list_largest_in: large values in each run of 16,384 transactions, so that a
-- new entry falls among the newest ones. An index of all values would take the indexer 4 % more
-- processor time; those of 10 coins or more are few, and of a busy chain's day still more than are listed.
CREATE INDEX IF NOT EXISTS transactions_by_value ON transactions ((ordinal >> 14), value, ordinal)
    WHERE status AND value >= 10000000000000000000;

-- Value that contracts moved inside transactions, and contracts they created, be it without value,
-- from traces: of blocks that are traced, all of it.
CREATE TABLE IF NOT EXISTS internal_transfers (
    ordinal bigint PRIMARY KEY,
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    transfer_index integer NOT NULL, -- in its transaction, in the order of the calls
    type smallint NOT NULL,        -- see internal_transfer_type()
    from_address bytea NOT NULL,
    to_address bytea NOT NULL,
    value numeric(78, 0) NOT NULL
);
-- serve queries/internal_transfers_list_by_key, queries/internal_transfers_list_by_keys,
-- indexer/addresses_restore_last_seen
CREATE INDEX IF NOT EXISTS internal_transfers_by_from ON internal_transfers (from_address, ordinal);
CREATE INDEX IF NOT EXISTS internal_transfers_by_to ON internal_transfers (to_address, ordinal)
    WHERE to_address <> from_address;
CREATE INDEX IF NOT EXISTS internal_transfers_to_self ON internal_transfers (to_address, ordinal)
    WHERE to_address IS NOT DISTINCT FROM from_address;

-- What validators withdrew (EIP-4895), which changes balances without a transaction.
CREATE TABLE IF NOT EXISTS withdrawals (
    block_number bigint NOT NULL,
    withdrawal_index bigint NOT NULL, -- along the chain
    validator_index bigint NOT NULL,
    address bytea NOT NULL,
    amount_wei numeric(78, 0) NOT NULL,
    PRIMARY KEY (block_number, withdrawal_index)
);
-- serves queries/history_list, indexer/addresses_restore_last_seen
CREATE INDEX IF NOT EXISTS withdrawals_of_address
    ON withdrawals (address, block_number, withdrawal_index);

-- Which contracts emitted a log in which block, or were made there by another contract: an address
-- is seen there too.
CREATE TABLE IF NOT EXISTS log_emitters (
    address bytea NOT NULL,
    block_number bigint NOT NULL,
    PRIMARY KEY (address, block_number)
);
-- serves the unwinding of a reorganisation; rows come in block order, so a BRIN is enough
CREATE INDEX IF NOT EXISTS log_emitters_by_block ON log_emitters USING brin (block_number);

-- Blocks that forks took back, written in the transaction that does so: to tell a reader that stands
-- on one what to drop. A block that came back since has its row still, so whoever reads this looks into
-- blocks first. The newest 10,000 of the last seven days are kept, see indexer/orphaned_blocks_sweep.
CREATE TABLE IF NOT EXISTS orphaned_blocks (
    hash bytea PRIMARY KEY,
    number bigint NOT NULL,
    parent_hash bytea NOT NULL,
    fork_number bigint NOT NULL,   -- the newest block that stayed then
    fork_hash bytea NOT NULL,
    orphaned_at timestamptz NOT NULL,
    events json,                   -- {type: [record, ...], ...}, see block_events(); null: too many
    events_bytes integer NOT NULL  -- as text; 0 where there are none
);

-- Runtime bytecode, once per distinct code.
CREATE TABLE IF NOT EXISTS codes (
    code_hash bytea PRIMARY KEY,   -- keccak-256
    code bytea NOT NULL
);

-- The code found at an address, and in which block; the newest row is what stands there now.
CREATE TABLE IF NOT EXISTS contracts (
    address bytea NOT NULL,
    block_number bigint NOT NULL,
    code_hash bytea NOT NULL,
    PRIMARY KEY (address, block_number)
);
-- serves contracts of the same code, and the clean-up of codes
CREATE INDEX IF NOT EXISTS contracts_by_code_hash ON contracts (code_hash);
CREATE INDEX IF NOT EXISTS contracts_by_block ON contracts USING brin (block_number);

CREATE TABLE IF NOT EXISTS tokens (
    address bytea PRIMARY KEY,
    block_number bigint NOT NULL,  -- where it was first seen
    type text NOT NULL CHECK (type IN ('BEP20', 'BEP721', 'BEP1155')),
    name text NOT NULL,
    symbol text NOT NULL,
    decimals smallint NOT NULL,
    total_supply numeric(78, 0) NOT NULL,
    supply_block bigint,           -- of the last transfer, which total_supply was read after;
                                   -- null: to be read again
    supply_missing boolean NOT NULL DEFAULT false, -- totalSupply() returned none: total_supply is 0
    held_supply numeric NOT NULL DEFAULT 0, -- what holders hold together: 0 of a BEP20
    wraps boolean NOT NULL,        -- its Deposit and Withdrawal mint and burn, as WETH's do
    holder_count bigint NOT NULL DEFAULT 0,
    negative_holder_count bigint NOT NULL DEFAULT 0, -- above 0: its events do not add up
    transfer_count bigint NOT NULL DEFAULT 0,
    item_count bigint NOT NULL DEFAULT 0 -- ids ever moved: 0 of a BEP20
) WITH (fillfactor = 60);
-- serves queries/tokens_list
CREATE INDEX IF NOT EXISTS tokens_by_holder_count ON tokens (holder_count, address);
-- serve queries/search_list, by prefix
CREATE INDEX IF NOT EXISTS tokens_by_symbol ON tokens (lower(symbol) text_pattern_ops);
CREATE INDEX IF NOT EXISTS tokens_by_name ON tokens (lower(name) text_pattern_ops);
-- Names that are nearly those looked for: serves queries/search_list_similar, where the extension is there
-- and may be used. PostgreSQL's own packages have it, the embedded one does not.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') THEN
        CREATE EXTENSION IF NOT EXISTS pg_trgm;
        CREATE INDEX IF NOT EXISTS tokens_by_similar_name
            ON tokens USING gist (lower(name) gist_trgm_ops);
    END IF;
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
    RAISE NOTICE 'search finds no similar names: %', SQLERRM;
END
$$;
-- serves indexer/tokens_list_stale
CREATE INDEX IF NOT EXISTS tokens_stale ON tokens (address) WHERE supply_block IS NULL;
CREATE INDEX IF NOT EXISTS tokens_by_block ON tokens USING brin (block_number);

CREATE TABLE IF NOT EXISTS token_transfers (
    ordinal bigint PRIMARY KEY,
    block_number bigint NOT NULL,
    log_index integer NOT NULL,
    batch_index integer CHECK (batch_index > 0), -- null: 0, as nearly all have; that takes no room
    transaction_index integer NOT NULL,
    token_address bytea NOT NULL,
    from_address bytea NOT NULL,
    to_address bytea NOT NULL,
    value numeric(78, 0) NOT NULL,
    token_id numeric(78, 0)
);
-- serve queries/token_transfers_list_by_key, queries/token_transfers_list_by_keys,
-- indexer/addresses_restore_last_seen
CREATE INDEX IF NOT EXISTS token_transfers_by_from ON token_transfers (from_address, ordinal);
CREATE INDEX IF NOT EXISTS token_transfers_by_to ON token_transfers (to_address, ordinal)
    WHERE to_address <> from_address;
CREATE INDEX IF NOT EXISTS token_transfers_to_self ON token_transfers (to_address, ordinal)
    WHERE to_address IS NOT DISTINCT FROM from_address;
-- serve queries/token_transfers_list_by_key, queries/token_transfers_list_by_keys, indexer/tokens_list_stale
CREATE INDEX IF NOT EXISTS token_transfers_by_token ON token_transfers (token_address, ordinal);
-- serves queries/token_items_get, queries/token_transfers_list_by_item, indexer/token_items_derive, indexer/item_balances_derive
CREATE INDEX IF NOT EXISTS token_transfers_by_item
    ON token_transfers (token_address, token_id, ordinal) WHERE token_id IS NOT NULL;

-- Net balance by events. A balance of zero has no row; below zero only where the events lie.
CREATE TABLE IF NOT EXISTS token_holders (
    holder bytea NOT NULL,
    token_address bytea NOT NULL,
    balance numeric NOT NULL,      -- a BEP1155's is the sum over its ids, so it may exceed uint256
    PRIMARY KEY (holder, token_address)
);
-- serves queries/tokens_list_holders
CREATE INDEX IF NOT EXISTS token_holders_by_balance
    ON token_holders (token_address, balance, holder);

-- serves indexer/token_holders_sweep
CREATE INDEX IF NOT EXISTS token_holders_at_zero ON token_holders (holder) WHERE balance = 0;

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

-- In which range a holder is: ranges follow each other as (balance, holder) do. A range has the balances
-- with the same two leading digits and number of digits. Of those the least (1200 of 1200 to 1299), which
-- many may hold alike, has a range for each first byte of the holder's address. Null: holds nothing.
CREATE OR REPLACE FUNCTION holder_range(balance numeric, holder bytea) RETURNS integer
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN balance > 0 THEN
    (length(balance::text) * 90 + rpad(left(balance::text, 2), 2, '0')::integer - 100) * 257
        + CASE WHEN ltrim(substr(balance::text, 3), '0') = '' THEN get_byte(holder, 0)
            ELSE 256 END END;

-- The first (balance, holder) of a range: no row before it is in the range, and none after it in the
-- range before.
CREATE OR REPLACE FUNCTION range_balance(balance_range integer) RETURNS numeric
LANGUAGE sql IMMUTABLE
RETURN ((balance_range / 257 % 90 + 10) || 'e' || (balance_range / 257 / 90 - 1))::numeric;

CREATE OR REPLACE FUNCTION range_holder(balance_range integer) RETURNS bytea
LANGUAGE sql IMMUTABLE
RETURN CASE balance_range % 257 WHEN 0 THEN '\x'::bytea
    WHEN 256 THEN decode(repeat('ff', 21), 'hex')
    ELSE decode(lpad(to_hex(balance_range % 257), 2, '0'), 'hex') END;

-- Those of some tokens that are counted by range.
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

-- Its argument: 1 for rows that came, -1 for rows that went.
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

-- Who has how many of a BEP1155's item, net by events: as token_holders, no row for zero, and below
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

-- Exchanges by name, as dex_trades name them.
CREATE TABLE IF NOT EXISTS dexes (
    dex_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    trade_count bigint NOT NULL DEFAULT 0
);

CREATE TABLE IF NOT EXISTS pools (
    address bytea PRIMARY KEY,
    block_number bigint NOT NULL,
    dex_id integer NOT NULL,
    token0 bytea NOT NULL,
    token1 bytea NOT NULL,
    trade_count bigint NOT NULL DEFAULT 0,
    volume0 numeric NOT NULL DEFAULT 0, -- of token0 in its smallest unit, in all trades that candles count
    volume1 numeric NOT NULL DEFAULT 0  -- of token1
);
-- serves queries/pools_list
CREATE INDEX IF NOT EXISTS pools_by_trade_count ON pools (trade_count, address);
CREATE INDEX IF NOT EXISTS pools_by_block ON pools USING brin (block_number);

-- Contracts that emitted a Swap, Deposit or Withdrawal and proved to be no pool, or no token.
CREATE TABLE IF NOT EXISTS rejected_emitters (
    address bytea NOT NULL,
    claim text NOT NULL CHECK (claim IN ('pool', 'token')),
    block_number bigint NOT NULL,
    PRIMARY KEY (address, claim)
);
CREATE INDEX IF NOT EXISTS rejected_emitters_by_block
    ON rejected_emitters USING brin (block_number);

CREATE TABLE IF NOT EXISTS dex_trades (
    ordinal bigint PRIMARY KEY,
    block_number bigint NOT NULL,
    log_index integer NOT NULL,
    transaction_index integer NOT NULL,
    dex_id integer NOT NULL,
    pool_address bytea NOT NULL,
    maker bytea NOT NULL,
    token_in bytea NOT NULL,
    token_out bytea NOT NULL,
    amount_in numeric(78, 0) NOT NULL,
    amount_out numeric(78, 0) NOT NULL
);
-- serve queries/dex_trades_list_by_key, queries/dex_trades_list_by_keys, queries/pools_list,
-- queries/pools_get, queries/pools_list_candles
CREATE INDEX IF NOT EXISTS dex_trades_by_maker ON dex_trades (maker, ordinal);
CREATE INDEX IF NOT EXISTS dex_trades_by_dex ON dex_trades (dex_id, ordinal);
CREATE INDEX IF NOT EXISTS dex_trades_by_pool ON dex_trades (pool_address, ordinal);

-- What was traded in a pool in an hour of its blocks' own times; an hour without trades has no row. A
-- price is kept as the two amounts of the trade that has it, so nothing is rounded: amount1 / amount0.
-- Of trades at the same price it is the first one. Null where every trade has an amount of 0.
CREATE TABLE IF NOT EXISTS pool_candles (
    pool_address bytea NOT NULL,
    hour timestamptz NOT NULL,     -- when it begins
    trade_count bigint NOT NULL,
    first_ordinal bigint NOT NULL, -- of these trades
    volume0 numeric NOT NULL,      -- of token0, in its smallest unit
    volume1 numeric NOT NULL,
    open_amount0 numeric(78, 0),   -- of the first trade with a price
    open_amount1 numeric(78, 0),
    high_amount0 numeric(78, 0),
    high_amount1 numeric(78, 0),
    low_amount0 numeric(78, 0),
    low_amount1 numeric(78, 0),
    close_amount0 numeric(78, 0),
    close_amount1 numeric(78, 0),
    -- serves queries/pool_candles_list, queries/pool_volumes_get
    PRIMARY KEY (pool_address, hour)
) WITH (fillfactor = 70);          -- the newest hour of a pool changes in place

-- Which trades pool_candles and the volumes of pools count: those from one on, in the blocks up to one.
-- An older version writes and takes back blocks without counting: then its hash is not the head's, and
-- all is counted anew, older trades by `scan backfill candles`.
CREATE TABLE IF NOT EXISTS pool_candles_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    first_trade bigint NOT NULL,   -- ordinal; 0: all are counted
    last_hash bytea                -- of the newest block; null before the first
);

-- First topics of stored logs, by short numbers. With SCAN_LOGS=standard they are those of the events
-- that are stored, filled in before the first block.
CREATE TABLE IF NOT EXISTS event_topics (
    topic_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic0 bytea NOT NULL UNIQUE,
    log_count bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 60);

-- Logs of contracts, where SCAN_LOGS has them stored. At most eight columns: a ninth would make the
-- row of a log without topics eight bytes longer.
CREATE TABLE IF NOT EXISTS logs (
    ordinal bigint PRIMARY KEY,
    block_number bigint NOT NULL,
    log_index integer NOT NULL,
    transaction_index integer NOT NULL,
    topic_id integer,              -- of its first topic; null: it has no topics
    address bytea NOT NULL,
    topics bytea NOT NULL,         -- the others, 32 bytes each
    data bytea NOT NULL
);
-- serve queries/logs_list_by_key, queries/logs_list_by_keys, indexer/lists_insert_checkpoints
-- By its third column an address and a first topic together pass over other entries in the index.
CREATE INDEX IF NOT EXISTS logs_by_address ON logs (address, ordinal, topic_id);
CREATE INDEX IF NOT EXISTS logs_by_topic ON logs (topic_id, ordinal);

-- Every address seen, its exact counters, and its balance where the indexer has read it.
CREATE TABLE IF NOT EXISTS addresses (
    address bytea PRIMARY KEY,
    first_seen bigint NOT NULL,    -- block numbers
    last_seen bigint NOT NULL,
    unwound boolean NOT NULL DEFAULT false, -- last_seen is to be found anew: never outlives unwind
    transaction_count bigint NOT NULL,
    sent_count bigint NOT NULL,
    received_count bigint NOT NULL,
    transfer_count bigint NOT NULL,
    transfer_sent_count bigint NOT NULL,
    transfer_received_count bigint NOT NULL,
    trade_count bigint NOT NULL,
    balance numeric(78, 0),
    balance_block bigint,          -- the block balance was read at; null: to be read
    item_count bigint,             -- items it has; null: none, which takes no room
    internal_count bigint NOT NULL DEFAULT 0, -- of internal transfers
    internal_sent_count bigint NOT NULL DEFAULT 0,
    internal_received_count bigint NOT NULL DEFAULT 0,
    log_count bigint,              -- logs it emitted, of those that are stored; null: none
    -- Rows of its history that have no other counter; null: none
    coin_sent_count bigint,        -- transactions that sent coin, also to itself
    coin_received_count bigint,    -- transactions of others that brought coin
    withdrawal_count bigint,
    produced_count bigint,         -- blocks it produced that have transactions
    net_wei numeric                -- coin that came in, less what went out; null: 0
) WITH (fillfactor = 80);          -- counters change in place, which moves no index entry
-- serves indexer/addresses_restore_last_seen
CREATE INDEX IF NOT EXISTS addresses_unwound ON addresses (address) WHERE unwound;
-- serves indexer/addresses_list_stale, and indexer/blocks_unwind: balances read in blocks that are taken back
CREATE INDEX IF NOT EXISTS addresses_by_balance_block ON addresses (balance_block);

-- What happened on a day (UTC), of days that were counted from their first block on: a day that an
-- older version began has no row until `scan backfill daily` has counted it. A block belongs to the
-- newest day that it or a block before it has, so that the blocks of a day follow each other whatever
-- their times say.
CREATE TABLE IF NOT EXISTS daily_stats (
    day date PRIMARY KEY,
    first_block bigint NOT NULL UNIQUE,
    last_block bigint NOT NULL,    -- of those that are counted
    last_hash bytea NOT NULL,      -- that block's: an older version writes blocks without counting them
    transaction_count bigint NOT NULL,
    failed_transaction_count bigint NOT NULL,
    active_address_count bigint NOT NULL DEFAULT 0, -- addresses seen in its blocks
    new_address_count bigint NOT NULL DEFAULT 0,    -- addresses never seen before
    created_contract_count bigint NOT NULL, -- by transactions and, as far as traces are known, by contracts
    token_transfer_count bigint NOT NULL,
    dex_trade_count bigint NOT NULL,
    gas_used numeric NOT NULL,
    fees_wei numeric NOT NULL,     -- what senders paid, with blobs
    burnt_wei numeric NOT NULL     -- base fees, as far as they are known, and what blobs cost
) WITH (fillfactor = 50);          -- the newest one changes in place with every batch

-- Names that operators give to addresses.
CREATE TABLE IF NOT EXISTS labels (
    address bytea PRIMARY KEY,
    label text NOT NULL
);
-- serves queries/search_list
CREATE INDEX IF NOT EXISTS labels_by_text ON labels (lower(label) text_pattern_ops);
-- Counts the changes of labels, verified contracts and imported signatures: a lock on the chain's row would hold up the indexer.
CREATE TABLE IF NOT EXISTS label_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version bigint NOT NULL
);
-- pg_restore empties the search path, in which the function would not find its table.
CREATE OR REPLACE FUNCTION announce_labels() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
DECLARE
    changed bigint;
BEGIN
    INSERT INTO label_state AS s (version) VALUES (1)
    ON CONFLICT (only_row) DO UPDATE SET version = s.version + 1
    RETURNING s.version INTO changed;
    PERFORM pg_notify('scan_chain', 'labels ' || changed);
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER labels_announced AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON labels
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();

-- Which state of the index a statement has read: it grows with every change that a response about
-- the chain may show, so two reads with the same version have read the same.
CREATE OR REPLACE FUNCTION index_version() RETURNS bigint LANGUAGE sql STABLE
RETURN coalesce((SELECT version FROM chain), 0) + coalesce((SELECT version FROM label_state), 0);

-- Every 128th entry of a list: which row it is, so that a deep page starts near by.
CREATE TABLE IF NOT EXISTS list_checkpoints (
    place bigint NOT NULL,         -- in the list: from 0, oldest first
    ordinal bigint NOT NULL,       -- of the row that stands there
    block_number bigint NOT NULL,
    list text NOT NULL,            -- 'transactions_by_from', …: see indexer/lists_insert_checkpoints.sql
    key bytea NOT NULL,            -- an address, or the name of an exchange in UTF-8
    PRIMARY KEY (list, key, place)
);
CREATE INDEX IF NOT EXISTS list_checkpoints_by_block ON list_checkpoints (block_number);

-- One shape per record, used by lists, details and queries alike. They are inlined by the planner.
-- format() makes compact JSON, and a fifth faster than json_build_object does: what may be null, or
-- is somebody's text, comes to it through json_text or json_hex.
CREATE OR REPLACE FUNCTION hex(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN '0x' || encode(value, 'hex');

CREATE OR REPLACE FUNCTION iso(value timestamptz) RETURNS text LANGUAGE sql STABLE
RETURN to_char(value AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');

CREATE OR REPLACE FUNCTION json_text(value text) RETURNS text LANGUAGE sql STABLE
RETURN coalesce(to_json(value)::text, 'null');

CREATE OR REPLACE FUNCTION json_hex(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN coalesce('"' || hex(value) || '"', 'null');

-- A JSON array of records that string_agg(record::text, ',') has joined; null where there are none.
CREATE OR REPLACE FUNCTION json_list(records text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN '[' || coalesce(records, '') || ']';

-- Decimal digits of an unsigned integer that is stored as bytes; the first form, of up to 56 bits, is
-- as quick as numeric's own output.
CREATE OR REPLACE FUNCTION large_integer(value bytea) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT
RETURN (SELECT trunc(sum(get_byte(value, place) * 256::numeric ^ (length(value) - 1 - place)))
    FROM generate_series(0, length(value) - 1) AS place);

CREATE OR REPLACE FUNCTION integer_text(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN length(value) < 8 THEN int8(('x' || encode(value, 'hex'))::varbit)::text
    ELSE large_integer(value)::text END;

CREATE OR REPLACE FUNCTION json_integer(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN coalesce('"' || integer_text(value) || '"', 'null');

CREATE OR REPLACE FUNCTION json_hashes(hashes bytea[]) RETURNS text LANGUAGE sql IMMUTABLE STRICT
RETURN (SELECT json_list(string_agg(json_hex(hash), ',' ORDER BY place))
    FROM unnest(hashes) WITH ORDINALITY AS each (hash, place));

-- What the sender of a transaction paid for it, with its blobs (EIP-4844: 131,072 gas each); in wei.
CREATE OR REPLACE FUNCTION transaction_fee(t transactions) RETURNS numeric LANGUAGE sql IMMUTABLE
RETURN t.gas_price * t.gas_used + CASE WHEN t.blob_gas_price IS NULL THEN 0
    ELSE 131072 * cardinality(t.blob_versioned_hashes) * integer_text(t.blob_gas_price)::numeric END;

-- What the producer of a block earned by its transactions: what they paid for gas beyond the base fee.
CREATE OR REPLACE FUNCTION producer_fees(b blocks) RETURNS numeric LANGUAGE sql STABLE
RETURN (SELECT coalesce(sum(
        greatest(t.gas_price - coalesce(b.base_fee_per_gas, 0), 0) * t.gas_used), 0)
    FROM transactions t
    WHERE t.ordinal >= b.transactions_before
        AND t.ordinal < b.transactions_before + b.transaction_count);

-- The function that a transaction called; null where it created a contract, or gave less than 4 bytes.
CREATE OR REPLACE FUNCTION method_id(t transactions) RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN CASE WHEN length(t.method) = 4 AND t.to_address IS NOT NULL THEN t.method END;

CREATE OR REPLACE FUNCTION block_record(b blocks) RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"number":%s,"hash":"%s","timestamp":"%s","miner":"%s","txCount":%s,"gasUsed":"%s",'
    '"gasLimit":"%s","parentHash":"%s","baseFeePerGas":%s,"size":%s,"burntFees":%s}',
    b.number, hex(b.hash), iso(b.timestamp), hex(b.miner), b.transaction_count, b.gas_used,
    b.gas_limit, hex(b.parent_hash), coalesce('"' || b.base_fee_per_gas || '"', 'null'),
    coalesce(b.size::text, 'null'), coalesce('"' || b.base_fee_per_gas * b.gas_used || '"', 'null'))::json;

-- As text: to take it for JSON would have it parsed, a fifth of what it costs.
CREATE OR REPLACE FUNCTION transaction_record(t transactions, b blocks) RETURNS text
LANGUAGE sql STABLE
RETURN format(
    '{"hash":"%s","blockNumber":%s,"fromAddress":"%s","toAddress":%s,"value":"%s","gasPrice":"%s",'
    '"gasUsed":"%s","status":%s,"timestamp":"%s","transactionIndex":%s,"contractAddress":%s,'
    '"blockHash":"%s","nonce":%s,"gasLimit":%s,"type":%s,"maxFeePerGas":%s,'
    '"maxPriorityFeePerGas":%s,"maxFeePerBlobGas":%s,"blobVersionedHashes":%s,'
    '"cumulativeGasUsed":%s,"methodId":%s}',
    hex(t.hash), t.block_number, hex(t.from_address), json_hex(t.to_address), t.value, t.gas_price,
    t.gas_used, t.status::text, iso(b.timestamp), t.transaction_index,
    json_hex(t.contract_address), hex(b.hash), coalesce(integer_text(t.nonce), 'null'),
    json_integer(t.gas_limit), coalesce(integer_text(t.type), 'null'),
    json_integer(t.max_fee_per_gas), json_integer(t.max_priority_fee_per_gas),
    json_integer(t.max_fee_per_blob_gas), coalesce(json_hashes(t.blob_versioned_hashes), 'null'),
    json_integer(t.cumulative_gas_used), json_hex(method_id(t)));

-- An NFT without totalSupply() has as many as are held: of a BEP721, the items with an owner.
CREATE OR REPLACE FUNCTION token_supply(t tokens) RETURNS numeric LANGUAGE sql IMMUTABLE
RETURN CASE WHEN t.supply_missing THEN t.held_supply ELSE t.total_supply END;

CREATE OR REPLACE FUNCTION token_record(t tokens, seen_at timestamptz, is_verified boolean)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"address":"%s","name":%s,"symbol":%s,"decimals":%s,"type":"%s","totalSupply":"%s",'
    '"holderCount":%s,"firstSeen":"%s","verified":%s}',
    hex(t.address), json_text(t.name), json_text(t.symbol), t.decimals, t.type, token_supply(t),
    t.holder_count, iso(seen_at), is_verified::text)::json;

CREATE OR REPLACE FUNCTION token_detail_record(
    t tokens, seen_at timestamptz, is_verified boolean)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"address":"%s","name":%s,"symbol":%s,"decimals":%s,"type":"%s","totalSupply":"%s",'
    '"holderCount":%s,"transferCount":%s,"firstSeen":"%s","eventsConsistent":%s,"itemCount":%s,'
    '"verified":%s}',
    hex(t.address), json_text(t.name), json_text(t.symbol), t.decimals, t.type, token_supply(t),
    t.holder_count, t.transfer_count, iso(seen_at), (t.negative_holder_count = 0)::text,
    CASE WHEN t.type = 'BEP20' THEN 'null' ELSE t.item_count::text END, is_verified::text)::json;

CREATE OR REPLACE FUNCTION token_holder_record(holder bytea, balance numeric)
RETURNS json LANGUAGE sql STABLE
RETURN format('{"address":"%s","balance":"%s"}', hex(holder), balance)::json;

CREATE OR REPLACE FUNCTION token_balance_record(t tokens, balance numeric)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"tokenAddress":"%s","name":%s,"symbol":%s,"decimals":%s,"type":"%s","balance":"%s"}',
    hex(t.address), json_text(t.name), json_text(t.symbol), t.decimals, t.type, balance)::json;

CREATE OR REPLACE FUNCTION token_transfer_record(
    x token_transfers, transaction_hash bytea, k tokens, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"transactionHash":"%s","blockNumber":%s,"logIndex":%s,"batchIndex":%s,"tokenAddress":"%s",'
    '"tokenType":"%s","fromAddress":"%s","toAddress":"%s","value":"%s","tokenId":%s,'
    '"timestamp":"%s","tokenSymbol":%s,"tokenDecimals":%s}',
    hex(transaction_hash), x.block_number, x.log_index, coalesce(x.batch_index, 0),
    hex(x.token_address), k.type, hex(x.from_address), hex(x.to_address), x.value,
    coalesce('"' || x.token_id || '"', 'null'), iso(mined_at), json_text(k.symbol),
    k.decimals)::json;

-- An item; its id stands in its first transfer.
CREATE OR REPLACE FUNCTION token_item_record(i token_items, token_id numeric, token_type text)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"tokenAddress":"%s","tokenId":"%s","tokenType":"%s","owner":%s,"ownerCount":%s,'
    '"transferCount":%s}',
    hex(i.token_address), token_id, token_type, json_hex(i.owner),
    coalesce(i.owner_count, (i.owner IS NOT NULL)::integer), i.transfer_count)::json;

CREATE OR REPLACE FUNCTION item_balance_record(t tokens, token_id numeric, balance numeric)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"tokenAddress":"%s","name":%s,"symbol":%s,"type":"%s","tokenId":"%s","balance":"%s"}',
    hex(t.address), json_text(t.name), json_text(t.symbol), t.type, token_id, balance)::json;

-- The key of an item's list of transfers in list_checkpoints.
CREATE OR REPLACE FUNCTION item_key(token bytea, token_id numeric) RETURNS bytea
LANGUAGE sql IMMUTABLE
RETURN token || convert_to(token_id::text, 'UTF8');

CREATE OR REPLACE FUNCTION internal_transfer_type(type smallint)
RETURNS text LANGUAGE sql IMMUTABLE
RETURN (ARRAY['call', 'create', 'create2', 'selfdestruct'])[type + 1];

CREATE OR REPLACE FUNCTION internal_transfer_record(
    i internal_transfers, transaction_hash bytea, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"transactionHash":"%s","blockNumber":%s,"transferIndex":%s,"type":"%s","fromAddress":"%s",'
    '"toAddress":"%s","value":"%s","timestamp":"%s"}',
    hex(transaction_hash), i.block_number, i.transfer_index, internal_transfer_type(i.type),
    hex(i.from_address), hex(i.to_address), i.value, iso(mined_at))::json;

CREATE OR REPLACE FUNCTION withdrawal_record(w withdrawals) RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"index":%s,"validatorIndex":%s,"address":"%s","amount":"%s"}',
    w.withdrawal_index, w.validator_index, hex(w.address), w.amount_wei)::json;

-- The topics of a log as a JSON array.
CREATE OR REPLACE FUNCTION topics_json(topic0 bytea, others bytea) RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN topic0 IS NULL THEN '[]' ELSE '["' || hex(topic0)
    || regexp_replace(encode(others, 'hex'), '(.{64})', '","0x\1', 'g') || '"]' END;

CREATE OR REPLACE FUNCTION log_record(
    l logs, topic0 bytea, transaction_hash bytea, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"transactionHash":"%s","blockNumber":%s,"logIndex":%s,"transactionIndex":%s,"address":"%s",'
    '"topics":%s,"data":"%s","timestamp":"%s"}',
    hex(transaction_hash), l.block_number, l.log_index, l.transaction_index, hex(l.address),
    topics_json(topic0, l.topics), hex(l.data), iso(mined_at))::json;

-- A day, as far as it is counted; a day without blocks counts nothing.
CREATE OR REPLACE FUNCTION daily_stats_record(day date, s daily_stats, is_counted boolean)
RETURNS text LANGUAGE sql STABLE
RETURN CASE WHEN is_counted THEN format(
    '{"date":"%s","blocks":%s,"transactions":%s,"failedTransactions":%s,"activeAddresses":%s,'
    '"newAddresses":%s,"contractsCreated":%s,"tokenTransfers":%s,"dexTrades":%s,"gasUsed":"%s",'
    '"fees":"%s","burntFees":"%s"}',
    day, coalesce(s.last_block - s.first_block + 1, 0), coalesce(s.transaction_count, 0),
    coalesce(s.failed_transaction_count, 0), coalesce(s.active_address_count, 0),
    coalesce(s.new_address_count, 0), coalesce(s.created_contract_count, 0),
    coalesce(s.token_transfer_count, 0), coalesce(s.dex_trade_count, 0), coalesce(s.gas_used, 0),
    coalesce(s.fees_wei, 0), coalesce(s.burnt_wei, 0))
ELSE format(
    '{"date":"%s","blocks":null,"transactions":null,"failedTransactions":null,'
    '"activeAddresses":null,"newAddresses":null,"contractsCreated":null,"tokenTransfers":null,'
    '"dexTrades":null,"gasUsed":null,"fees":null,"burntFees":null}', day) END;

-- What tells tokens of one name apart: holders and first seen, null for anything else.
CREATE OR REPLACE FUNCTION search_record(
    type text, value text, name text, symbol text, match text, holders bigint,
    seen_at timestamptz, is_verified boolean)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"type":"%s","value":"%s","name":%s,"symbol":%s,"match":"%s","holderCount":%s,"firstSeen":%s,'
    '"verified":%s}',
    type, value, json_text(name), json_text(symbol), match, coalesce(holders::text, 'null'),
    coalesce('"' || iso(seen_at) || '"', 'null'), coalesce(is_verified::text, 'null'))::json;

-- Of a token that never moved nothing but its address is known.
CREATE OR REPLACE FUNCTION dex_trade_record(
    d dex_trades, transaction_hash bytea, dex text, mined_at timestamptz, token_in tokens,
    token_out tokens)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"transactionHash":"%s","blockNumber":%s,"logIndex":%s,"dex":%s,"pairAddress":"%s",'
    '"maker":"%s","tokenIn":"%s","tokenOut":"%s","amountIn":"%s","amountOut":"%s",'
    '"timestamp":"%s","tokenInSymbol":%s,"tokenInDecimals":%s,"tokenOutSymbol":%s,'
    '"tokenOutDecimals":%s}',
    hex(transaction_hash), d.block_number, d.log_index, json_text(dex), hex(d.pool_address),
    hex(d.maker), hex(d.token_in), hex(d.token_out), d.amount_in, d.amount_out,
    iso(mined_at), json_text(token_in.symbol), coalesce(token_in.decimals::text, 'null'),
    json_text(token_out.symbol), coalesce(token_out.decimals::text, 'null'))::json;

-- A log's record where its data may be long: a contract could have every reader sent megabytes.
CREATE OR REPLACE FUNCTION log_event_record(
    l logs, topic0 bytea, transaction_hash bytea, mined_at timestamptz)
RETURNS text LANGUAGE sql STABLE
RETURN CASE WHEN octet_length(l.data) <= 16384
    THEN log_record(l, topic0, transaction_hash, mined_at)::text
    ELSE format(
        '{"transactionHash":"%s","blockNumber":%s,"logIndex":%s,"transactionIndex":%s,'
        '"address":"%s","topics":%s,"data":null,"timestamp":"%s","dataOmitted":true}',
        hex(transaction_hash), l.block_number, l.log_index, l.transaction_index, hex(l.address),
        topics_json(topic0, l.topics), iso(mined_at)) END;

-- Which number the first event of each type has in its block, and the number after the last one.
CREATE OR REPLACE FUNCTION block_sections(b blocks)
RETURNS TABLE (token_transfers bigint, internal_transfers bigint, dex_trades bigint, logs bigint,
    events bigint)
LANGUAGE sql IMMUTABLE AS $$
    SELECT s.transfers, s.transfers + b.token_transfer_count,
        s.transfers + b.token_transfer_count + b.internal_transfer_count,
        s.transfers + b.token_transfer_count + b.internal_transfer_count + b.dex_trade_count,
        s.transfers + b.token_transfer_count + b.internal_transfer_count + b.dex_trade_count
            + b.log_count
    FROM (SELECT 1 + b.transaction_count::bigint AS transfers) AS s
$$;

-- What happened in a block, in this order: its head, its transactions, token transfers, internal
-- transfers, trades and stored logs, numbered from 0 whichever `types` are read. Those numbered from
-- `first` to `last`. A range is given for every table, for the planner: see indexer/events_insert.sql.
CREATE OR REPLACE FUNCTION block_events(b blocks, types text[], first bigint, last bigint)
RETURNS TABLE (index bigint, type text, record text) LANGUAGE sql STABLE AS $$
    SELECT 0::bigint, 'heads', block_record(b)::text
    WHERE 'heads' = ANY (types) AND first = 0
    UNION ALL
    SELECT t.ordinal - b.transactions_before + 1, 'transactions', transaction_record(t, b)
    FROM transactions t
    WHERE 'transactions' = ANY (types)
        AND t.ordinal >= b.transactions_before + greatest(first - 1, 0)
        AND t.ordinal <= b.transactions_before + least(last - 1, b.transaction_count - 1)
    UNION ALL
    SELECT x.ordinal - b.token_transfers_before + s.token_transfers, 'token_transfers',
        token_transfer_record(x, t.hash, k, b.timestamp)::text
    FROM block_sections(b) s
    JOIN token_transfers x
        ON x.ordinal >= b.token_transfers_before + greatest(first - s.token_transfers, 0)
        AND x.ordinal <= b.token_transfers_before
            + least(last - s.token_transfers, b.token_transfer_count - 1)
    JOIN transactions t
        ON t.ordinal = b.transactions_before + x.transaction_index
        AND t.ordinal BETWEEN b.transactions_before
            AND b.transactions_before + b.transaction_count - 1
    JOIN tokens k ON k.address = x.token_address
    WHERE 'token_transfers' = ANY (types)
    UNION ALL
    SELECT i.ordinal - b.internal_transfers_before + s.internal_transfers, 'internal_transfers',
        internal_transfer_record(i, t.hash, b.timestamp)::text
    FROM block_sections(b) s
    JOIN internal_transfers i
        ON i.ordinal >= b.internal_transfers_before + greatest(first - s.internal_transfers, 0)
        AND i.ordinal <= b.internal_transfers_before
            + least(last - s.internal_transfers, b.internal_transfer_count - 1)
    JOIN transactions t
        ON t.ordinal = b.transactions_before + i.transaction_index
        AND t.ordinal BETWEEN b.transactions_before
            AND b.transactions_before + b.transaction_count - 1
    WHERE 'internal_transfers' = ANY (types)
    UNION ALL
    SELECT d.ordinal - b.dex_trades_before + s.dex_trades, 'dex_trades',
        dex_trade_record(d, t.hash, e.name, b.timestamp, i, o)::text
    FROM block_sections(b) s
    JOIN dex_trades d
        ON d.ordinal >= b.dex_trades_before + greatest(first - s.dex_trades, 0)
        AND d.ordinal <= b.dex_trades_before
            + least(last - s.dex_trades, b.dex_trade_count - 1)
    JOIN transactions t
        ON t.ordinal = b.transactions_before + d.transaction_index
        AND t.ordinal BETWEEN b.transactions_before
            AND b.transactions_before + b.transaction_count - 1
    JOIN dexes e ON e.dex_id = d.dex_id
    LEFT JOIN tokens i ON i.address = d.token_in
    LEFT JOIN tokens o ON o.address = d.token_out
    WHERE 'dex_trades' = ANY (types)
    UNION ALL
    SELECT l.ordinal - b.logs_before + s.logs, 'logs',
        log_event_record(l, e.topic0, t.hash, b.timestamp)
    FROM block_sections(b) s
    JOIN logs l
        ON l.ordinal >= b.logs_before + greatest(first - s.logs, 0)
        AND l.ordinal <= b.logs_before + least(last - s.logs, b.log_count - 1)
    JOIN transactions t
        ON t.ordinal = b.transactions_before + l.transaction_index
        AND t.ordinal BETWEEN b.transactions_before
            AND b.transactions_before + b.transaction_count - 1
    LEFT JOIN event_topics e ON e.topic_id = l.topic_id
    WHERE 'logs' = ANY (types)
$$;

-- Whether candles and volumes count every trade.
CREATE OR REPLACE FUNCTION has_all_candles() RETURNS boolean LANGUAGE sql STABLE
RETURN coalesce((SELECT s.first_trade = 0 FROM pool_candles_state s), false);

-- `last_trade` is null where it has none; of a token that never moved only the address is known.
CREATE OR REPLACE FUNCTION pool_record(
    p pools, dex text, token0 tokens, token1 tokens, last_trade json)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"address":"%s","dex":%s,"token0":"%s","token0Symbol":%s,"token0Decimals":%s,"token1":"%s",'
    '"token1Symbol":%s,"token1Decimals":%s,"tradeCount":%s,"lastTradeHash":%s,"lastTradeAt":%s,'
    '"volume0":%s,"volume1":%s}',
    hex(p.address), json_text(dex), hex(p.token0), json_text(token0.symbol),
    coalesce(token0.decimals::text, 'null'), hex(p.token1), json_text(token1.symbol),
    coalesce(token1.decimals::text, 'null'), p.trade_count,
    json_text(last_trade ->> 'transactionHash'), json_text(last_trade ->> 'timestamp'),
    json_text(CASE WHEN has_all_candles() THEN p.volume0::text END),
    json_text(CASE WHEN has_all_candles() THEN p.volume1::text END));

-- What was traded in a span of time; prices are null where no trade has one.
CREATE OR REPLACE FUNCTION candle_record(
    start timestamptz, open numeric, high numeric, low numeric, close numeric, volume0 numeric,
    volume1 numeric, trades bigint)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"time":"%s","open":%s,"high":%s,"low":%s,"close":%s,"volume0":"%s","volume1":"%s",'
    '"trades":%s}',
    iso(start), json_text(trim_scale(open)::text), json_text(trim_scale(high)::text),
    json_text(trim_scale(low)::text), json_text(trim_scale(close)::text), volume0, volume1, trades);

-- What was traded in a pool since a time, or ever; null where candles do not count all trades yet.
CREATE OR REPLACE FUNCTION volume_record(
    period text, start timestamptz, volume0 numeric, volume1 numeric, trades bigint)
RETURNS text LANGUAGE sql STABLE
RETURN format('{"period":"%s","timeFrom":%s,"volume0":%s,"volume1":%s,"trades":%s}', period,
    json_text(iso(start)), json_text(volume0::text), json_text(volume1::text),
    coalesce(trades::text, 'null'));

-- Pages of the long lists. Nothing is counted, sorted or skipped for a page, however deep it is.
-- * Without a key (*_list) a page is a range of ordinals: *_ordinals turn the range of blocks into
--   ordinals, page_of_range cuts the page from them.
-- * By one key (*_list_by_key: an address, a token, an exchange, a topic) a list has an exact counter
--   and checkpoints. *_entries_before turn the range of blocks into a range of places in the list,
--   list_start gives the checkpoint nearest to the offset, and the page is at most so many entries
--   away.
-- * Several keys together (*_list_by_keys) have neither: they are counted from their end, on the
--   narrowest index, and their total is not known.
-- * A cursor (see scan/queries/cursors.py) is an ordinal: without a key it cuts the range, by one key
--   *_entries_before make it the number of entries to skip, by several keys it bounds the index.
-- Lists by keys take entries from the index alone, in ordered halves where there are several ways to
-- match, and fetch the rows of the page only. The planner takes a range between two numbers that it
-- does not know for 0.5 % of a table: an end that bounds nothing is left out (has_lower, has_upper),
-- and where both are compared, the upper one is compared as a row, which the planner does not pair
-- with the lower. `skip` is the offset, `size` the limit, `direction` asc or desc.
CREATE OR REPLACE FUNCTION transaction_ordinals(block_from bigint, block_to bigint)
RETURNS TABLE (first bigint, last bigint) LANGUAGE sql STABLE AS $$
    SELECT oldest.first, newest.last
    FROM (SELECT b.transactions_before AS first FROM blocks b
            WHERE b.number >= block_from ORDER BY b.number ASC LIMIT 1) AS oldest,
        (SELECT b.transactions_before + b.transaction_count - 1 AS last FROM blocks b
            WHERE b.number <= block_to ORDER BY b.number DESC LIMIT 1) AS newest
$$;

CREATE OR REPLACE FUNCTION token_transfer_ordinals(block_from bigint, block_to bigint)
RETURNS TABLE (first bigint, last bigint) LANGUAGE sql STABLE AS $$
    SELECT oldest.first, newest.last
    FROM (SELECT b.token_transfers_before AS first FROM blocks b
            WHERE b.number >= block_from ORDER BY b.number ASC LIMIT 1) AS oldest,
        (SELECT b.token_transfers_before + b.token_transfer_count - 1 AS last FROM blocks b
            WHERE b.number <= block_to ORDER BY b.number DESC LIMIT 1) AS newest
$$;

CREATE OR REPLACE FUNCTION dex_trade_ordinals(block_from bigint, block_to bigint)
RETURNS TABLE (first bigint, last bigint) LANGUAGE sql STABLE AS $$
    SELECT oldest.first, newest.last
    FROM (SELECT b.dex_trades_before AS first FROM blocks b
            WHERE b.number >= block_from ORDER BY b.number ASC LIMIT 1) AS oldest,
        (SELECT b.dex_trades_before + b.dex_trade_count - 1 AS last FROM blocks b
            WHERE b.number <= block_to ORDER BY b.number DESC LIMIT 1) AS newest
$$;

CREATE OR REPLACE FUNCTION internal_transfer_ordinals(block_from bigint, block_to bigint)
RETURNS TABLE (first bigint, last bigint) LANGUAGE sql STABLE AS $$
    SELECT oldest.first, newest.last
    FROM (SELECT b.internal_transfers_before AS first FROM blocks b
            WHERE b.number >= block_from ORDER BY b.number ASC LIMIT 1) AS oldest,
        (SELECT b.internal_transfers_before + b.internal_transfer_count - 1 AS last FROM blocks b
            WHERE b.number <= block_to ORDER BY b.number DESC LIMIT 1) AS newest
$$;

-- What pool_candles has of trades first..last; of some candles alone, by pool and hour, where these are
-- given. Prices of a candle are compared as whole numbers: of two that differ, amount1 / amount0
-- differ by 1 / scale at least, which is the square of the largest amount0. OFFSET 0 has prices computed
-- once, not for each of the uses.
CREATE OR REPLACE FUNCTION counted_candles(
    first bigint, last bigint, some_pools bytea[], some_hours timestamptz[])
RETURNS TABLE (pool_address bytea, hour timestamptz, trade_count bigint, first_ordinal bigint,
    volume0 numeric, volume1 numeric, open_amount0 numeric, open_amount1 numeric,
    high_amount0 numeric, high_amount1 numeric, low_amount0 numeric, low_amount1 numeric,
    close_amount0 numeric, close_amount1 numeric)
LANGUAGE sql STABLE AS $$
    SELECT c.pool_address, c.hour, count(*), min(c.ordinal), sum(c.amount0), sum(c.amount1),
        max(c.amount0) FILTER (WHERE c.ordinal = c.opens), max(c.amount1) FILTER (WHERE c.ordinal = c.opens),
        max(c.amount0) FILTER (WHERE c.ordinal = c.highs), max(c.amount1) FILTER (WHERE c.ordinal = c.highs),
        max(c.amount0) FILTER (WHERE c.ordinal = c.lows), max(c.amount1) FILTER (WHERE c.ordinal = c.lows),
        max(c.amount0) FILTER (WHERE c.ordinal = c.closes), max(c.amount1) FILTER (WHERE c.ordinal = c.closes)
    FROM (
        SELECT e.*, min(e.ordinal) FILTER (WHERE e.price = e.highest) OVER candle AS highs,
            min(e.ordinal) FILTER (WHERE e.price = e.lowest) OVER candle AS lows
        FROM (
            SELECT r.*, max(r.price) OVER candle AS highest, min(r.price) OVER candle AS lowest,
                min(r.ordinal) FILTER (WHERE r.price IS NOT NULL) OVER candle AS opens,
                max(r.ordinal) FILTER (WHERE r.price IS NOT NULL) OVER candle AS closes
            FROM (
                SELECT t.*, CASE WHEN t.amount0 > 0 AND t.amount1 > 0
                    THEN div(t.amount1 * t.scale, t.amount0) END AS price
                FROM (
                    SELECT a.*, (max(a.amount0) OVER candle) * (max(a.amount0) OVER candle) AS scale
                    FROM (
                        SELECT d.ordinal, d.pool_address,
                            date_trunc('hour', b.timestamp, 'UTC') AS hour,
                            CASE WHEN d.token_in = p.token0 THEN d.amount_in
                                ELSE d.amount_out END AS amount0,
                            CASE WHEN d.token_in = p.token0 THEN d.amount_out
                                ELSE d.amount_in END AS amount1
                        FROM dex_trades d
                        JOIN pools p ON p.address = d.pool_address
                        JOIN blocks b ON b.number = d.block_number
                        WHERE d.ordinal BETWEEN first AND last
                            AND (some_pools IS NULL OR d.pool_address = ANY(some_pools))
                    ) AS a
                    WHERE some_pools IS NULL
                        OR (a.pool_address, a.hour) IN (SELECT * FROM unnest(some_pools, some_hours))
                    WINDOW candle AS (PARTITION BY a.pool_address, a.hour)
                ) AS t
                OFFSET 0
            ) AS r
            WINDOW candle AS (PARTITION BY r.pool_address, r.hour)
        ) AS e
        WINDOW candle AS (PARTITION BY e.pool_address, e.hour)
    ) AS c
    GROUP BY c.pool_address, c.hour
$$;

-- The day of a moment, in UTC.
CREATE OR REPLACE FUNCTION day_of(value timestamptz) RETURNS date LANGUAGE sql STABLE
RETURN (value AT TIME ZONE 'UTC')::date;

-- Every address that is seen in a range of blocks, once: the addresses of indexer/addresses_derive.
CREATE OR REPLACE FUNCTION addresses_seen(block_from bigint, block_to bigint)
RETURNS TABLE (address bytea) LANGUAGE sql STABLE AS $$
    SELECT t.from_address
    FROM transaction_ordinals(block_from, block_to) o
    JOIN transactions t ON t.ordinal BETWEEN o.first AND o.last
    UNION
    SELECT t.to_address
    FROM transaction_ordinals(block_from, block_to) o
    JOIN transactions t ON t.ordinal BETWEEN o.first AND o.last
    WHERE t.to_address IS NOT NULL
    UNION
    SELECT t.contract_address
    FROM transaction_ordinals(block_from, block_to) o
    JOIN transactions t ON t.ordinal BETWEEN o.first AND o.last
    WHERE t.contract_address IS NOT NULL
    UNION
    SELECT x.from_address
    FROM token_transfer_ordinals(block_from, block_to) o
    JOIN token_transfers x ON x.ordinal BETWEEN o.first AND o.last
    UNION
    SELECT x.to_address
    FROM token_transfer_ordinals(block_from, block_to) o
    JOIN token_transfers x ON x.ordinal BETWEEN o.first AND o.last
    UNION
    SELECT d.maker
    FROM dex_trade_ordinals(block_from, block_to) o
    JOIN dex_trades d ON d.ordinal BETWEEN o.first AND o.last
    UNION
    SELECT i.from_address
    FROM internal_transfer_ordinals(block_from, block_to) o
    JOIN internal_transfers i ON i.ordinal BETWEEN o.first AND o.last
    UNION
    SELECT i.to_address
    FROM internal_transfer_ordinals(block_from, block_to) o
    JOIN internal_transfers i ON i.ordinal BETWEEN o.first AND o.last
    UNION
    SELECT b.miner FROM blocks b WHERE b.number BETWEEN block_from AND block_to
    UNION
    SELECT w.address FROM withdrawals w WHERE w.block_number BETWEEN block_from AND block_to
    UNION
    SELECT e.address FROM log_emitters e WHERE e.block_number BETWEEN block_from AND block_to
$$;

-- What daily_stats counts of a range of blocks, but for addresses.
CREATE OR REPLACE FUNCTION block_totals(block_from bigint, block_to bigint)
RETURNS TABLE (transaction_count bigint, failed_transaction_count bigint,
    created_contract_count bigint, token_transfer_count bigint, dex_trade_count bigint,
    gas_used numeric, fees_wei numeric, burnt_wei numeric)
LANGUAGE sql STABLE AS $$
    SELECT b.transactions, t.failed, t.created + i.created, b.transfers, b.trades, b.gas_used,
        t.gas_fees + t.blob_fees, b.burnt + t.blob_fees
    FROM (
        SELECT sum(transaction_count) AS transactions, sum(token_transfer_count) AS transfers,
            sum(dex_trade_count) AS trades, sum(gas_used) AS gas_used,
            coalesce(sum(base_fee_per_gas * gas_used), 0) AS burnt
        FROM blocks
        WHERE number BETWEEN block_from AND block_to
    ) AS b, (
        SELECT count(*) FILTER (WHERE NOT t.status) AS failed,
            count(*) FILTER (WHERE t.status AND t.contract_address IS NOT NULL) AS created,
            coalesce(sum(t.gas_price * t.gas_used), 0) AS gas_fees,
            coalesce(sum(transaction_fee(t) - t.gas_price * t.gas_used)
                FILTER (WHERE t.blob_gas_price IS NOT NULL), 0) AS blob_fees
        FROM transaction_ordinals(block_from, block_to) o
        JOIN transactions t ON t.ordinal BETWEEN o.first AND o.last
    ) AS t, (
        SELECT count(*) AS created
        FROM internal_transfer_ordinals(block_from, block_to) o
        JOIN internal_transfers i ON i.ordinal BETWEEN o.first AND o.last
        WHERE internal_transfer_type(i.type) IN ('create', 'create2')
    ) AS i
$$;

-- Which row of daily_stats a block belongs to; null where its day is not counted.
CREATE OR REPLACE FUNCTION counted_day(block bigint) RETURNS date LANGUAGE sql STABLE
RETURN (SELECT CASE WHEN s.last_block >= block THEN s.day END
    FROM daily_stats s
    WHERE s.first_block <= block
    ORDER BY s.first_block DESC
    LIMIT 1);

-- Which blocks lack traces: an older version wrote them, or the node could not trace them.
CREATE OR REPLACE FUNCTION lacks_traces(b blocks) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN b.traced IS FALSE AND b.transaction_count > 0;

-- How many blocks lack traces; null where some do and none was ever traced, so that nothing is known
-- of internal transfers.
CREATE OR REPLACE FUNCTION untraced_blocks() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN max(b.number) IS NULL THEN 0
        WHEN max(b.untraced_before + lacks_traces(b)::integer) = 0
            OR max(b.traced_before + (b.traced IS TRUE)::integer) > 0
            THEN max(b.untraced_before + lacks_traces(b)::integer)
        END
    FROM blocks b
    WHERE b.number = (SELECT max(newest.number) FROM blocks newest)
$$;

-- The newest block after which a stored balance may have changed without anything indexed: an address
-- whose balance is stored is not in any later block, except inside transactions that are not traced.
CREATE OR REPLACE FUNCTION newest_untraced_block() RETURNS bigint LANGUAGE sql STABLE
RETURN coalesce((SELECT max(b.number) FROM blocks b WHERE b.traced IS FALSE), -1);

CREATE OR REPLACE FUNCTION log_ordinals(block_from bigint, block_to bigint)
RETURNS TABLE (first bigint, last bigint) LANGUAGE sql STABLE AS $$
    SELECT oldest.first, newest.last
    FROM (SELECT b.logs_before AS first FROM blocks b
            WHERE b.number >= block_from ORDER BY b.number ASC LIMIT 1) AS oldest,
        (SELECT b.logs_before + b.log_count - 1 AS last FROM blocks b
            WHERE b.number <= block_to ORDER BY b.number DESC LIMIT 1) AS newest
$$;

-- Whether a log has the topics asked for. `accepted` has a bit for each combination of the four that
-- may match (topic0 counts 1, topic1 2, topic2 4, topic3 8), so that `and` and `or` are one to it.
CREATE OR REPLACE FUNCTION has_topics(
    topic_id integer, others bytea, id0 integer, topic1 bytea, topic2 bytea, topic3 bytea,
    accepted integer)
RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN (accepted >> (coalesce(topic_id = id0, false)::integer
    + 2 * coalesce(substr(others, 1, 32) = topic1, false)::integer
    + 4 * coalesce(substr(others, 33, 32) = topic2, false)::integer
    + 8 * coalesce(substr(others, 65, 32) = topic3, false)::integer)) & 1 = 1;

-- Whether logs with so many bytes of data are answered as one page; one alone always is.
CREATE OR REPLACE FUNCTION fits_page(bytes bigint, size bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN size = 1 OR coalesce(bytes, 0) <= 16 * 1024 * 1024;

-- Which numbers of first..last are on a page: after `skip` of them, or after the number where a cursor
-- stands. `next` is the last of them, null where none follows.
CREATE OR REPLACE FUNCTION page_of_range(
    first bigint, last bigint, skip bigint, after bigint, size bigint, direction text)
RETURNS TABLE (lowest bigint, highest bigint, next bigint) LANGUAGE sql IMMUTABLE AS $$
    SELECT page.lowest, page.highest,
        CASE WHEN direction = 'asc' AND page.highest < last THEN page.highest
            WHEN direction = 'desc' AND page.lowest > first THEN page.lowest END
    FROM (
        SELECT CASE WHEN direction = 'asc' THEN first + passed
                ELSE greatest(last - passed - (size - 1), first) END AS lowest,
            CASE WHEN direction = 'asc' THEN least(first + passed + (size - 1), last)
                ELSE last - passed END AS highest
        FROM (
            SELECT least(greatest(CASE WHEN after IS NULL THEN skip
                WHEN direction = 'asc' THEN after - first + 1
                ELSE last - after + 1 END, 0), greatest(last - first + 1, 0)) AS passed
        ) AS known
    ) AS page
$$;

-- A block to a cursor: its number in eight bytes, then its hash.
CREATE OR REPLACE FUNCTION block_reference(b blocks) RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN int8send(b.number) || b.hash;

-- How far apart checkpoints stand: a page at any depth passes at most so many index entries.
-- With 128 they take about a hundredth of the rows' room.
CREATE OR REPLACE FUNCTION checkpoint_every() RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN 128;

-- Whether a list that grew has an entry now whose place is a multiple of that, 0 left out.
CREATE OR REPLACE FUNCTION passes_checkpoint(entries_before bigint, entries bigint)
RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN (entries - 1) / checkpoint_every() > (entries_before - 1) / checkpoint_every()
    AND entries > entries_before;

-- Where to start reading a list for `skip` entries: the nearest checkpoint on the way, and how many
-- entries to pass from there; where there is none, the end that the order begins with.
CREATE OR REPLACE FUNCTION list_start(l text, k bytea, entries bigint, skip bigint, direction text)
RETURNS TABLE (ordinal bigint, pass bigint)
LANGUAGE sql STABLE AS $$
    (SELECT c.ordinal, abs(c.place - CASE
        WHEN direction = 'asc' THEN skip ELSE entries - 1 - skip END)
    FROM list_checkpoints c
    WHERE c.list = l AND c.key = k
        AND (direction <> 'asc' OR c.place <= skip)
        AND (direction <> 'desc' OR c.place >= entries - 1 - skip)
    ORDER BY CASE WHEN direction = 'asc' THEN c.place END DESC,
        CASE WHEN direction = 'desc' THEN c.place END ASC
    LIMIT 1)
    UNION ALL
    SELECT CASE WHEN direction = 'asc' THEN 0 ELSE 9223372036854775807 END, skip
    LIMIT 1
$$;

-- Where to stop: the ordinal that no entry of such a page is beyond, from the nearest checkpoint behind
-- it. An index that has none of the page's entries is not read to its end then, nor older partitions.
CREATE OR REPLACE FUNCTION list_end(
    l text, k bytea, entries bigint, skip bigint, size bigint, direction text)
RETURNS bigint LANGUAGE sql STABLE
RETURN CASE WHEN direction = 'asc' THEN coalesce(
        (SELECT c.ordinal FROM list_checkpoints c
        WHERE c.list = l AND c.key = k AND c.place >= skip + size - 1
        ORDER BY c.place ASC LIMIT 1), 9223372036854775807)
    ELSE coalesce(
        (SELECT c.ordinal FROM list_checkpoints c
        WHERE c.list = l AND c.key = k AND c.place <= entries - skip - size
        ORDER BY c.place DESC LIMIT 1), 0) END;

-- How many entries of a list lie before an ordinal: the last checkpoint before it is found by halving,
-- since places and ordinals grow together, and the few entries after that are counted. Each function
-- is of one table, so that the plans of its counts are kept; their bounds are variables, so that
-- partitions outside are not even opened. 17 probes for a list of 16 million entries.
CREATE OR REPLACE FUNCTION checkpoint_before(l text, k bytea, entries bigint, bound bigint)
RETURNS TABLE (place bigint, ordinal bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
    low bigint := 0;               -- in checkpoints: this one lies before the bound,
    high bigint := (entries - 1) / checkpoint_every() + 1; -- and this one does not
    middle bigint;
    found bigint;
BEGIN
    place := 0;
    ordinal := 0;
    WHILE low + 1 < high LOOP
        middle := (low + high) / 2;
        SELECT c.ordinal INTO found FROM list_checkpoints c
        WHERE c.list = l AND c.key = k AND c.place = middle * checkpoint_every();
        IF found < bound THEN
            low := middle;
            place := middle * checkpoint_every();
            ordinal := found;
        ELSE
            high := middle;
        END IF;
    END LOOP;
    RETURN NEXT;
END
$$;

CREATE OR REPLACE FUNCTION transaction_entries_before(
    l text, k bytea, entries bigint, bound bigint)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    counted bigint;
    since bigint;
BEGIN
    IF entries = 0 THEN
        RETURN 0;
    END IF;
    SELECT c.place, c.ordinal INTO counted, since FROM checkpoint_before(l, k, entries, bound) AS c;
    IF l IN ('transactions_by_address', 'transactions_by_from') THEN
        counted := counted + (
            SELECT count(*) FROM transactions t
            WHERE t.from_address = k AND t.ordinal >= since AND t.ordinal < bound);
    END IF;
    IF l IN ('transactions_by_address', 'transactions_by_to') THEN
        counted := counted + (
            SELECT count(*) FROM transactions t
            WHERE t.to_address = k AND t.to_address <> t.from_address AND t.ordinal >= since
                AND t.ordinal < bound);
    END IF;
    IF l = 'transactions_by_to' THEN
        counted := counted + (
            SELECT count(*) FROM transactions t
            WHERE t.to_address = k AND t.to_address IS NOT DISTINCT FROM t.from_address
                AND t.ordinal >= since AND t.ordinal < bound);
    END IF;
    IF l = 'transactions_by_address' THEN
        counted := counted + (
            SELECT count(*) FROM transactions t
            WHERE t.contract_address = k AND t.contract_address <> t.from_address
                AND t.ordinal >= since AND t.ordinal < bound);
    END IF;
    IF l = 'coin_by_from' THEN
        counted := counted + (
            SELECT count(*) FROM transactions t
            WHERE t.from_address = k AND t.status AND t.value > 0 AND t.ordinal >= since
                AND t.ordinal < bound);
    END IF;
    IF l = 'coin_by_to' THEN
        counted := counted + (
            SELECT count(*) FROM transactions t
            WHERE coalesce(t.to_address, t.contract_address) = k AND t.status AND t.value > 0
                AND coalesce(t.to_address, t.contract_address) <> t.from_address
                AND t.ordinal >= since AND t.ordinal < bound);
    END IF;
    RETURN counted;
END
$$;

CREATE OR REPLACE FUNCTION token_transfer_entries_before(
    l text, k bytea, entries bigint, bound bigint)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    counted bigint;
    since bigint;
BEGIN
    IF entries = 0 THEN
        RETURN 0;
    END IF;
    SELECT c.place, c.ordinal INTO counted, since FROM checkpoint_before(l, k, entries, bound) AS c;
    IF l IN ('token_transfers_by_address', 'token_transfers_by_from') THEN
        counted := counted + (
            SELECT count(*) FROM token_transfers x
            WHERE x.from_address = k AND x.ordinal >= since AND x.ordinal < bound);
    END IF;
    IF l IN ('token_transfers_by_address', 'token_transfers_by_to') THEN
        counted := counted + (
            SELECT count(*) FROM token_transfers x
            WHERE x.to_address = k AND x.to_address <> x.from_address AND x.ordinal >= since
                AND x.ordinal < bound);
    END IF;
    IF l = 'token_transfers_by_to' THEN
        counted := counted + (
            SELECT count(*) FROM token_transfers x
            WHERE x.to_address = k AND x.to_address IS NOT DISTINCT FROM x.from_address
                AND x.ordinal >= since AND x.ordinal < bound);
    END IF;
    IF l = 'token_transfers_by_token' THEN
        counted := counted + (
            SELECT count(*) FROM token_transfers x
            WHERE x.token_address = k AND x.ordinal >= since AND x.ordinal < bound);
    END IF;
    RETURN counted;
END
$$;

CREATE OR REPLACE FUNCTION internal_transfer_entries_before(
    l text, k bytea, entries bigint, bound bigint)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    counted bigint;
    since bigint;
BEGIN
    IF entries = 0 THEN
        RETURN 0;
    END IF;
    SELECT c.place, c.ordinal INTO counted, since FROM checkpoint_before(l, k, entries, bound) AS c;
    IF l IN ('internal_transfers_by_address', 'internal_transfers_by_from') THEN
        counted := counted + (
            SELECT count(*) FROM internal_transfers i
            WHERE i.from_address = k AND i.ordinal >= since AND i.ordinal < bound);
    END IF;
    IF l IN ('internal_transfers_by_address', 'internal_transfers_by_to') THEN
        counted := counted + (
            SELECT count(*) FROM internal_transfers i
            WHERE i.to_address = k AND i.to_address <> i.from_address AND i.ordinal >= since
                AND i.ordinal < bound);
    END IF;
    IF l = 'internal_transfers_by_to' THEN
        counted := counted + (
            SELECT count(*) FROM internal_transfers i
            WHERE i.to_address = k AND i.to_address IS NOT DISTINCT FROM i.from_address
                AND i.ordinal >= since AND i.ordinal < bound);
    END IF;
    RETURN counted;
END
$$;

CREATE OR REPLACE FUNCTION dex_trade_entries_before(
    l text, k bytea, entries bigint, bound bigint)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    counted bigint;
    since bigint;
BEGIN
    IF entries = 0 THEN
        RETURN 0;
    END IF;
    SELECT c.place, c.ordinal INTO counted, since FROM checkpoint_before(l, k, entries, bound) AS c;
    IF l = 'dex_trades_by_maker' THEN
        counted := counted + (
            SELECT count(*) FROM dex_trades d
            WHERE d.maker = k AND d.ordinal >= since AND d.ordinal < bound);
    END IF;
    IF l = 'dex_trades_by_pool' THEN
        counted := counted + (
            SELECT count(*) FROM dex_trades d
            WHERE d.pool_address = k AND d.ordinal >= since AND d.ordinal < bound);
    END IF;
    IF l = 'dex_trades_by_dex' THEN
        counted := counted + (
            SELECT count(*) FROM dex_trades d
            WHERE d.dex_id = (
                SELECT x.dex_id FROM dexes x WHERE x.name = convert_from(k, 'UTF8'))
                AND d.ordinal >= since AND d.ordinal < bound);
    END IF;
    RETURN counted;
END
$$;

CREATE OR REPLACE FUNCTION log_entries_before(
    l text, k bytea, entries bigint, bound bigint)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    counted bigint;
    since bigint;
BEGIN
    IF entries = 0 THEN
        RETURN 0;
    END IF;
    SELECT c.place, c.ordinal INTO counted, since FROM checkpoint_before(l, k, entries, bound) AS c;
    IF l = 'logs_by_address' THEN
        counted := counted + (
            SELECT count(*) FROM logs g
            WHERE g.address = k AND g.ordinal >= since AND g.ordinal < bound);
    END IF;
    IF l = 'logs_by_topic0' THEN
        counted := counted + (
            SELECT count(*) FROM logs g
            WHERE g.topic_id = (SELECT e.topic_id FROM event_topics e WHERE e.topic0 = k)
                AND g.ordinal >= since AND g.ordinal < bound);
    END IF;
    RETURN counted;
END
$$;

-- The records of a page's ordinals, in their order, for lists that are planned for each call: planning
-- these look-ups, in every partition, would take longer than all the rest.
CREATE OR REPLACE FUNCTION transaction_records(ordinals bigint[], form text)
RETURNS TABLE (ordinal bigint, block_number bigint, record text) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
    SELECT entry.* FROM unnest(ordinals) AS place
    CROSS JOIN LATERAL (
        SELECT t.ordinal, t.block_number, CASE form
            WHEN 'etherscan' THEN etherscan_transaction_record(
                t, b, (SELECT max(newest.number) FROM blocks newest))::text
            ELSE transaction_record(t, b) END
        FROM transactions t
        JOIN blocks b ON b.number = t.block_number
        WHERE t.ordinal = place
        LIMIT 1
    ) AS entry;
END
$$;

CREATE OR REPLACE FUNCTION token_transfer_records(ordinals bigint[], form text)
RETURNS TABLE (ordinal bigint, block_number bigint, record text) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
    SELECT entry.* FROM unnest(ordinals) AS place
    CROSS JOIN LATERAL (
        SELECT x.ordinal, x.block_number, CASE form
            WHEN 'etherscan' THEN etherscan_token_transfer_record(
                x, t, b, k, (SELECT max(newest.number) FROM blocks newest))::text
            ELSE token_transfer_record(x, t.hash, k, b.timestamp)::text END
        FROM token_transfers x
        JOIN blocks b ON b.number = x.block_number
        JOIN tokens k ON k.address = x.token_address
        JOIN transactions t ON t.ordinal = b.transactions_before + x.transaction_index
        WHERE x.ordinal = place
        LIMIT 1
    ) AS entry;
END
$$;

CREATE OR REPLACE FUNCTION internal_transfer_records(ordinals bigint[], form text)
RETURNS TABLE (ordinal bigint, block_number bigint, record text) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
    SELECT entry.* FROM unnest(ordinals) AS place
    CROSS JOIN LATERAL (
        SELECT i.ordinal, i.block_number, CASE form
            WHEN 'etherscan' THEN etherscan_internal_transfer_record(i, t.hash, b.timestamp)
            ELSE internal_transfer_record(i, t.hash, b.timestamp) END::text
        FROM internal_transfers i
        JOIN blocks b ON b.number = i.block_number
        JOIN transactions t ON t.ordinal = b.transactions_before + i.transaction_index
        WHERE i.ordinal = place
        LIMIT 1
    ) AS entry;
END
$$;

CREATE OR REPLACE FUNCTION dex_trade_records(ordinals bigint[])
RETURNS TABLE (ordinal bigint, block_number bigint, record text) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
    SELECT entry.* FROM unnest(ordinals) AS place
    CROSS JOIN LATERAL (
        SELECT d.ordinal, d.block_number, dex_trade_record(d, t.hash, e.name, b.timestamp, i, o)::text
        FROM dex_trades d
        JOIN blocks b ON b.number = d.block_number
        JOIN transactions t ON t.ordinal = b.transactions_before + d.transaction_index
        JOIN dexes e ON e.dex_id = d.dex_id
        LEFT JOIN tokens i ON i.address = d.token_in
        LEFT JOIN tokens o ON o.address = d.token_out
        WHERE d.ordinal = place
        LIMIT 1
    ) AS entry;
END
$$;

-- A row of an address's history. `place` is the log's index, the number of the internal transfer or of
-- the withdrawal. The amount is exact: numeric has up to 16,383 digits after the point.
CREATE OR REPLACE FUNCTION history_record(
    type text, direction text, counterparty bytea, amount numeric, symbol text, decimals integer,
    token_address bytea, token_type text, token_id numeric, transaction_hash bytea, method bytea,
    block_number bigint, mined_at timestamptz, transaction_index integer, place bigint,
    batch_index integer)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"type":"%s","direction":"%s","counterparty":%s,"amount":"%s","amountDecimal":"%s",'
    '"symbol":%s,"decimals":%s,"tokenAddress":%s,"tokenType":%s,"tokenId":%s,"transactionHash":%s,'
    '"methodId":%s,"blockNumber":%s,"timestamp":"%s","transactionIndex":%s,"logIndex":%s,'
    '"batchIndex":%s,"transferIndex":%s,"withdrawalIndex":%s}',
    type, direction, json_hex(counterparty), amount,
    trim_scale(amount * ('1e-' || decimals)::numeric), json_text(symbol), decimals,
    json_hex(token_address), json_text(token_type), coalesce('"' || token_id || '"', 'null'),
    json_hex(transaction_hash), json_hex(method), block_number, iso(mined_at),
    coalesce(transaction_index::text, 'null'),
    CASE WHEN type = 'token_transfer' THEN place::text ELSE 'null' END,
    CASE WHEN type = 'token_transfer' THEN coalesce(batch_index, 0)::text ELSE 'null' END,
    CASE WHEN type = 'internal_transfer' THEN place::text ELSE 'null' END,
    CASE WHEN type = 'withdrawal' THEN place::text ELSE 'null' END);

-- How many entries of a list of history have ordinals of a range; `last` is not one of them.
CREATE OR REPLACE FUNCTION history_entries(
    l text, k bytea, entries bigint, first bigint, last bigint)
RETURNS bigint LANGUAGE sql STABLE
RETURN CASE
    WHEN l LIKE 'token%' THEN token_transfer_entries_before(l, k, entries, last)
        - token_transfer_entries_before(l, k, entries, first)
    WHEN l LIKE 'internal%' THEN internal_transfer_entries_before(l, k, entries, last)
        - internal_transfer_entries_before(l, k, entries, first)
    ELSE transaction_entries_before(l, k, entries, last)
        - transaction_entries_before(l, k, entries, first) END;

-- How many entries of an index a page needs at most: from a checkpoint, or from the list's end.
CREATE OR REPLACE FUNCTION entries_to_read(has_list boolean, skip bigint, size bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN has_list THEN checkpoint_every() + 1 ELSE least(skip, 9000000000000000000) END
    + size;

-- API keys. A row outlives its key: its uses are shown, and its signed request stays used.
CREATE TABLE IF NOT EXISTS api_keys (
    id bigint PRIMARY KEY CHECK (id BETWEEN 1 AND (1::bigint << 53) - 1), -- random
    owner_address bytea NOT NULL CHECK (octet_length(owner_address) = 20),
    signed_at_ms bigint NOT NULL,  -- the timestamp in the message that the wallet signed
    key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32), -- SHA-256
    key_prefix text NOT NULL,
    label text NOT NULL CHECK (char_length(label) <= 100),
    requests_per_minute integer NOT NULL CHECK (requests_per_minute > 0),
    total_requests bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now(),
    active boolean NOT NULL DEFAULT true,
    -- serves accounts/api_keys_list, accounts/owners_is_claimed, accounts/api_keys_create
    CONSTRAINT api_keys_signed_once UNIQUE (owner_address, signed_at_ms)
);

CREATE OR REPLACE FUNCTION api_key_record(k api_keys) RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"id":%s,"keyPrefix":%s,"label":%s,"requestsPerMinute":%s,"totalRequests":%s,'
    '"createdAt":"%s","lastUsedAt":"%s","active":%s}',
    k.id, json_text(k.key_prefix), json_text(k.label), k.requests_per_minute, k.total_requests,
    iso(k.created_at), iso(k.last_used_at), k.active::text)::json;

-- Webhooks: whose events are sent where. What changes with every delivery stands in
-- delivery_queues, so that an event does not touch the index that matching works with.
CREATE TABLE IF NOT EXISTS webhooks (
    id bigint PRIMARY KEY CHECK (id BETWEEN 1 AND 9007199254740991), -- random: not to be counted
    owner_address bytea NOT NULL,
    watch_address bytea NOT NULL,
    url text NOT NULL,
    event_types text[] NOT NULL
        CHECK (event_types <@ '{tx,token_transfer,internal_transfer,dex_trade,log}'
            AND event_types <> '{}'),
    active boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL,
    stopped_reason text,           -- why the service stopped it; null where it did not
    client_address text,           -- who activated it without a key of its owner
    topics json                    -- what its logs must match, as eth_getLogs has it; null: all
);
-- serves webhooks/webhooks_list, webhooks/webhooks_count_active
CREATE INDEX IF NOT EXISTS webhooks_by_owner ON webhooks (owner_address, created_at, id);
-- serves indexer/events_insert, indexer/webhooks_find_active, webhooks/webhooks_count_active
CREATE INDEX IF NOT EXISTS webhooks_by_watch_address ON webhooks (watch_address) WHERE active;
-- serves indexer/webhooks_list_log_addresses
CREATE INDEX IF NOT EXISTS webhooks_for_logs ON webhooks (watch_address)
    WHERE active AND 'log' = ANY (event_types);
-- serves webhooks/webhooks_count_active
CREATE INDEX IF NOT EXISTS webhooks_by_client_address ON webhooks (client_address)
    WHERE active AND client_address IS NOT NULL;

-- Apart from webhooks, so that nothing that lists those can show one. Deliveries sign with it.
CREATE TABLE IF NOT EXISTS webhook_secrets (
    webhook_id bigint PRIMARY KEY REFERENCES webhooks ON DELETE CASCADE,
    secret text NOT NULL
);

-- One row for each webhook: what waits for it, how it fares, and who serves it now.
-- Whoever touches this row and deliveries locks this row first.
CREATE TABLE IF NOT EXISTS delivery_queues (
    webhook_id bigint PRIMARY KEY REFERENCES webhooks ON DELETE CASCADE,
    host text NOT NULL,            -- host:port of its url: so many at once to each
    fresh_block bigint,            -- the lowest block of its deliveries that nobody has tried yet
    retry_at timestamptz,          -- when the first of its tried ones is due again
    is_healthy boolean NOT NULL DEFAULT false, -- its last attempt was a quick success
    fail_count integer NOT NULL DEFAULT 0,
    last_triggered_at timestamptz,
    last_success_at timestamptz,
    lease bigint,                  -- names one holding of the queue, null while nobody holds it
    lease_holder integer,          -- the process that holds it, see webhooks/dispatchers_register.sql
    leased_until timestamptz NOT NULL DEFAULT '-infinity', -- or when it was released
    -- How many of its deliveries are pending, and their bodies' bytes: exact while nobody holds a
    -- lease, and never too low.
    pending_count integer NOT NULL DEFAULT 0,
    pending_bytes bigint NOT NULL DEFAULT 0
);
-- serves webhooks/queues_claim: the longest unserved first
CREATE INDEX IF NOT EXISTS delivery_queues_waiting ON delivery_queues (leased_until, webhook_id)
    WHERE fresh_block IS NOT NULL OR retry_at IS NOT NULL;

-- Bodies of events: the very bytes that are signed and sent, once for all webhooks and all attempts.
-- A row is written together with the deliveries that refer to it, and is removed with the last one.
CREATE TABLE IF NOT EXISTS event_bodies (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    body text NOT NULL
);

-- Deliveries: one row for each event and webhook, in chain order by id. There is no foreign key:
-- the indexer would wait for whoever deletes a webhook. What is left of one is swept later.
CREATE TABLE IF NOT EXISTS deliveries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook_id bigint NOT NULL,
    block_number bigint,           -- null where no block has to be confirmed: tests, removals
    status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled')),
    event text NOT NULL,
    removed boolean NOT NULL DEFAULT false,  -- reports that an event's block was orphaned
    orphaned boolean NOT NULL DEFAULT false, -- its own block was
    sent boolean NOT NULL DEFAULT false,     -- the receiver may have seen it
    attempts smallint NOT NULL DEFAULT 0,    -- with a known end, since it was last put to work
    created_at timestamptz NOT NULL,
    tried_since timestamptz,       -- the first attempt; null: fresh
    retry_at timestamptz,          -- the next attempt, while it is pending and not fresh
    attempted_at timestamptz,      -- the last attempt
    finished_at timestamptz,
    response_code integer,
    error text,
    body text,                     -- only of deliveries that the release before wrote or attempted
    body_id bigint,                -- in event_bodies
    body_bytes integer NOT NULL DEFAULT 0 -- its length; 0 where the release before wrote it
);
-- Receivers tell deliveries apart by id, so no id may be given twice. A standby that missed the last
-- commits goes on from an older value of the sequence: before ids are given, the sequence moves on to
-- the clock (microseconds; below 2^53 until the year 2255) where it is behind, which after a failover
-- is past all that were given. Ids stay in order. Up to 100 ms behind it is left alone: no failover is
-- that short, and a statement that gives ids meanwhile is far behind the clock by the time another
-- moves it.
CREATE OR REPLACE FUNCTION advance_delivery_ids() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    ids CONSTANT regclass := pg_get_serial_sequence('deliveries', 'id');
    latest bigint;
BEGIN
    PERFORM pg_advisory_lock(hashtextextended('scan.delivery_ids', 0));
    latest := nextval(ids);
    IF latest < extract(epoch FROM clock_timestamp()) * 1000000 - 100000 THEN
        latest := setval(ids, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
    END IF;
    PERFORM pg_advisory_unlock(hashtextextended('scan.delivery_ids', 0));
    RETURN latest;
END $$;
-- serves webhooks/deliveries_list
CREATE INDEX IF NOT EXISTS deliveries_by_webhook ON deliveries (webhook_id, id);
-- serve webhooks/deliveries_begin_attempt, webhooks/queues_refresh
CREATE INDEX IF NOT EXISTS deliveries_fresh
    ON deliveries (webhook_id, coalesce(block_number, -1), id)
    WHERE status = 'pending' AND tried_since IS NULL;
CREATE INDEX IF NOT EXISTS deliveries_tried ON deliveries (webhook_id, retry_at)
    WHERE status = 'pending' AND tried_since IS NOT NULL;
-- serves indexer/events_lock_queues, indexer/events_unwind
CREATE INDEX IF NOT EXISTS deliveries_by_block ON deliveries (block_number)
    WHERE block_number IS NOT NULL AND NOT orphaned;
-- serve webhooks/deliveries_delete_old
CREATE INDEX IF NOT EXISTS deliveries_delivered ON deliveries (finished_at)
    WHERE status = 'delivered';
CREATE INDEX IF NOT EXISTS deliveries_given_up ON deliveries (finished_at)
    WHERE status IN ('failed', 'cancelled');
-- serves delete_unused_event_bodies
CREATE INDEX IF NOT EXISTS deliveries_by_body ON deliveries (body_id) WHERE body_id IS NOT NULL;

CREATE OR REPLACE FUNCTION delivery_body(d deliveries) RETURNS text LANGUAGE sql STABLE
RETURN coalesce(d.body, (SELECT e.body FROM event_bodies e WHERE e.id = d.body_id));

-- Removes the bodies whose last deliveries were deleted. Locked first: of two transactions that delete
-- deliveries of one body, the second sees what the first has deleted.
CREATE OR REPLACE FUNCTION delete_unused_event_bodies() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM event_bodies
    WHERE id IN (SELECT body_id FROM deleted)
    ORDER BY id
    FOR UPDATE;
    DELETE FROM event_bodies e
    WHERE e.id IN (SELECT body_id FROM deleted)
        AND NOT EXISTS (SELECT FROM deliveries d WHERE d.body_id = e.id);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER deliveries_deleted AFTER DELETE ON deliveries
    REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION delete_unused_event_bodies();

-- For the release before, which reads deliveries.body alone, while both are in use: it finds the body
-- there when it begins an attempt, or revokes an event. Sessions of this release say that they read
-- event_bodies (scan/database/connection.py). To be dropped with deliveries.body in the next release.
CREATE OR REPLACE FUNCTION copy_event_body() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.body := delivery_body(NEW);
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER deliveries_read_by_the_release_before
    BEFORE UPDATE OF attempted_at, orphaned ON deliveries
    FOR EACH ROW
    WHEN (NEW.body IS NULL
        AND current_setting('scan.reads_event_bodies', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION copy_event_body();

CREATE OR REPLACE FUNCTION webhook_record(w webhooks, q delivery_queues) RETURNS json
LANGUAGE sql STABLE
RETURN format(
    '{"id":%s,"url":%s,"watchAddress":"%s","eventTypes":%s,"active":%s,"createdAt":"%s",'
    '"lastTriggeredAt":%s,"failCount":%s,"stoppedReason":%s,"topics":%s}',
    w.id, json_text(w.url), hex(w.watch_address), array_to_json(w.event_types), w.active::text,
    iso(w.created_at), json_text(iso(q.last_triggered_at)), q.fail_count,
    json_text(w.stopped_reason), coalesce(w.topics::text, 'null'))::json;

-- `payload` is the body as it was signed and sent.
CREATE OR REPLACE FUNCTION delivery_record(d deliveries) RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"id":%s,"event":%s,"blockNumber":%s,"status":%s,"responseCode":%s,"error":%s,"attempts":%s,'
    '"createdAt":"%s","lastAttemptAt":%s,"nextAttemptAt":%s,"payload":%s}',
    d.id, json_text(d.event), coalesce(d.block_number::text, 'null'), json_text(d.status),
    coalesce(d.response_code::text, 'null'), json_text(d.error), d.attempts, iso(d.created_at),
    json_text(iso(d.attempted_at)), json_text(iso(d.retry_at)), delivery_body(d))::json;

-- A webhook's event (SPEC 6): the body as text, which is what is signed and sent.
CREATE OR REPLACE FUNCTION transaction_event(t transactions, mined_at timestamptz) RETURNS text
LANGUAGE sql STABLE
RETURN format(
    '{"event":"tx","timestamp":"%s","data":{"hash":"%s","from":"%s","to":%s,"value":"%s",'
    '"blockNumber":%s,"status":%s,"contractAddress":%s,"methodId":%s}}',
    iso(mined_at), hex(t.hash), hex(t.from_address), json_hex(t.to_address), t.value,
    t.block_number, t.status::text, json_hex(t.contract_address), json_hex(method_id(t)));

CREATE OR REPLACE FUNCTION token_transfer_event(
    x token_transfers, t transactions, token_type text, mined_at timestamptz)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"event":"token_transfer","timestamp":"%s","data":{"hash":"%s","from":"%s","to":"%s",'
    '"value":"%s","blockNumber":%s,"tokenAddress":"%s","tokenType":"%s","tokenId":%s,'
    '"logIndex":%s,"batchIndex":%s,"methodId":%s}}',
    iso(mined_at), hex(t.hash), hex(x.from_address), hex(x.to_address), x.value,
    x.block_number, hex(x.token_address), token_type, coalesce('"' || x.token_id || '"', 'null'),
    x.log_index, coalesce(x.batch_index, 0), json_hex(method_id(t)));

CREATE OR REPLACE FUNCTION internal_transfer_event(
    i internal_transfers, t transactions, mined_at timestamptz)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"event":"internal_transfer","timestamp":"%s","data":{"hash":"%s","from":"%s","to":"%s",'
    '"value":"%s","blockNumber":%s,"transferIndex":%s,"type":"%s","methodId":%s}}',
    iso(mined_at), hex(t.hash), hex(i.from_address), hex(i.to_address), i.value, i.block_number,
    i.transfer_index, internal_transfer_type(i.type), json_hex(method_id(t)));

CREATE OR REPLACE FUNCTION dex_trade_event(
    d dex_trades, t transactions, dex text, mined_at timestamptz)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"event":"dex_trade","timestamp":"%s","data":{"hash":"%s","blockNumber":%s,"logIndex":%s,'
    '"dex":%s,"pairAddress":"%s","maker":"%s","tokenIn":"%s","tokenOut":"%s","amountIn":"%s",'
    '"amountOut":"%s","methodId":%s}}',
    iso(mined_at), hex(t.hash), d.block_number, d.log_index, json_text(dex), hex(d.pool_address),
    hex(d.maker), hex(d.token_in), hex(d.token_out), d.amount_in, d.amount_out,
    json_hex(method_id(t)));

-- What statements of the release before call, while both are in use.
CREATE OR REPLACE FUNCTION token_record(t tokens) RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"address":"%s","name":%s,"symbol":%s,"decimals":%s,"type":"%s","totalSupply":"%s",'
    '"holderCount":%s}',
    hex(t.address), json_text(t.name), json_text(t.symbol), t.decimals, t.type, token_supply(t),
    t.holder_count)::json;

CREATE OR REPLACE FUNCTION token_detail_record(t tokens, seen_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"address":"%s","name":%s,"symbol":%s,"decimals":%s,"type":"%s","totalSupply":"%s",'
    '"holderCount":%s,"transferCount":%s,"firstSeen":"%s","eventsConsistent":%s,"itemCount":%s}',
    hex(t.address), json_text(t.name), json_text(t.symbol), t.decimals, t.type, token_supply(t),
    t.holder_count, t.transfer_count, iso(seen_at), (t.negative_holder_count = 0)::text,
    CASE WHEN t.type = 'BEP20' THEN 'null' ELSE t.item_count::text END)::json;

CREATE OR REPLACE FUNCTION search_record(
    type text, value text, name text, symbol text, match text)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"type":"%s","value":"%s","name":%s,"symbol":%s,"match":"%s"}',
    type, value, json_text(name), json_text(symbol), match)::json;

CREATE OR REPLACE FUNCTION token_transfer_record(
    x token_transfers, transaction_hash bytea, token_type text, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"transactionHash":"%s","blockNumber":%s,"logIndex":%s,"batchIndex":%s,"tokenAddress":"%s",'
    '"tokenType":"%s","fromAddress":"%s","toAddress":"%s","value":"%s","tokenId":%s,'
    '"timestamp":"%s"}',
    hex(transaction_hash), x.block_number, x.log_index, coalesce(x.batch_index, 0),
    hex(x.token_address), token_type, hex(x.from_address), hex(x.to_address), x.value,
    coalesce('"' || x.token_id || '"', 'null'), iso(mined_at))::json;

CREATE OR REPLACE FUNCTION dex_trade_record(
    d dex_trades, transaction_hash bytea, dex text, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"transactionHash":"%s","blockNumber":%s,"logIndex":%s,"dex":%s,"pairAddress":"%s",'
    '"maker":"%s","tokenIn":"%s","tokenOut":"%s","amountIn":"%s","amountOut":"%s",'
    '"timestamp":"%s"}',
    hex(transaction_hash), d.block_number, d.log_index, json_text(dex), hex(d.pool_address),
    hex(d.maker), hex(d.token_in), hex(d.token_out), d.amount_in, d.amount_out,
    iso(mined_at))::json;

CREATE OR REPLACE FUNCTION page_of_range(
    first bigint, last bigint, skip bigint, size bigint, direction text)
RETURNS TABLE (lowest bigint, highest bigint) LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN direction = 'asc' THEN first + passed
            ELSE greatest(last - passed - (size - 1), first) END,
        CASE WHEN direction = 'asc' THEN least(first + passed + (size - 1), last)
            ELSE last - passed END
    FROM (SELECT least(skip, greatest(last - first + 1, 0)) AS passed) AS known
$$;

CREATE OR REPLACE FUNCTION transaction_record(t transactions, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN (SELECT transaction_record(t, b)::json FROM blocks b WHERE b.number = t.block_number);

CREATE OR REPLACE FUNCTION token_transfer_event(
    x token_transfers, transaction_hash bytea, token_type text, mined_at timestamptz)
RETURNS text LANGUAGE sql STABLE
RETURN (SELECT token_transfer_event(x, t, token_type, mined_at)
    FROM transactions t WHERE t.hash = transaction_hash LIMIT 1);

-- Whether a log with these topics (a JSON array) matches a filter of eth_getLogs: for each place null,
-- a topic, or some of them; a log with fewer topics than the filter has places does not match.
CREATE OR REPLACE FUNCTION topics_match(wanted jsonb, topics jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN wanted IS NULL OR (jsonb_array_length(wanted) <= jsonb_array_length(topics)
    AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(wanted) WITH ORDINALITY AS c (allowed, place)
        WHERE c.allowed <> 'null' AND NOT c.allowed @> (topics -> (c.place - 1)::integer)));

-- `data` of more than 16,384 bytes is left out: a contract could have every webhook sent megabytes. It
-- is null where the indexer knows that already.
CREATE OR REPLACE FUNCTION log_event(
    t transactions, log_index integer, address bytea, topics text, data bytea, mined_at timestamptz)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"event":"log","timestamp":"%s","data":{"hash":"%s","blockNumber":%s,"logIndex":%s,'
    '"transactionIndex":%s,"address":"%s","topics":%s,"data":%s,"methodId":%s%s}}',
    iso(mined_at), hex(t.hash), t.block_number, log_index, t.transaction_index, hex(address),
    topics, CASE WHEN octet_length(data) <= 16384 THEN json_hex(data) ELSE 'null' END,
    json_hex(method_id(t)),
    CASE WHEN octet_length(data) <= 16384 THEN '' ELSE ',"dataOmitted":true' END);

-- Contracts whose source was compiled to the code at their address. A row counts only while the
-- address still has that code: a contract deployed anew, or by another fork, has another code_hash.
CREATE TABLE IF NOT EXISTS verified_contracts (
    address bytea NOT NULL,
    code_hash bytea NOT NULL,
    match text NOT NULL CHECK (match IN ('full', 'partial')),
    creation_match text CHECK (creation_match IN ('full', 'partial')), -- null: not known
    contract_name text NOT NULL,
    file_path text NOT NULL,
    compiler_version text NOT NULL,
    license text,
    settings json NOT NULL,
    abi json NOT NULL,
    sources json NOT NULL,         -- {path: {"content": text}}, as in a standard JSON input
    constructor_arguments bytea,   -- as the creating transaction has them
    verified_at timestamptz NOT NULL,
    metadata text,                 -- the compiler's file whose hash a full match carries; null: not kept
    match_id bigint GENERATED BY DEFAULT AS IDENTITY,
    is_indexed boolean NOT NULL DEFAULT true, -- this code is what stands at the address now
    -- To find code that differs in immutables and metadata alone; null where verified before 0024.
    code_length integer,
    masked_hash bytea,             -- SHA-256 of the code without them
    variable_ranges text,          -- JSON: [[[start, end], ...] of each immutable, ...]
    PRIMARY KEY (address, code_hash)
);
-- serves queries/contracts_get, contracts/verified_contracts_get_function,
-- contracts/verified_contracts_get_errors, contracts/contracts_find
CREATE INDEX IF NOT EXISTS verified_contracts_by_code_hash
    ON verified_contracts (code_hash, match, verified_at, address);
-- serves queries/verified_contracts_list
CREATE INDEX IF NOT EXISTS verified_contracts_listed
    ON verified_contracts (verified_at, address, code_hash) WHERE is_indexed;
-- serves queries/verified_contracts_list_similar
CREATE INDEX IF NOT EXISTS verified_contracts_by_code_length
    ON verified_contracts (code_length, match, verified_at, address) WHERE is_indexed;
-- serves queries/search_list
CREATE INDEX IF NOT EXISTS verified_contracts_by_name
    ON verified_contracts (lower(contract_name) text_pattern_ops);
-- Pages show contracts by their names, and Etherscan's form names functions by verified ABIs.
CREATE OR REPLACE TRIGGER verified_contracts_announced
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON verified_contracts
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();

-- What is verified about the code that stands at an address now: its own verification first, then the
-- best of another address with identical code. The planner inlines it.
CREATE OR REPLACE FUNCTION verification_of(at bytea) RETURNS SETOF verified_contracts
LANGUAGE sql STABLE AS $$
    SELECT v.*
    FROM verified_contracts v
    WHERE v.code_hash = (
        SELECT c.code_hash FROM contracts c WHERE c.address = at ORDER BY c.block_number DESC LIMIT 1)
    ORDER BY v.address = at DESC, v.match, v.verified_at, v.address
    LIMIT 1
$$;

-- A verification outlives its contract: a branch that is undone may come back, and so may the code.
-- Meanwhile no list shows it. Each statement of these functions sees what was committed before it;
-- by the lock neither overlooks what the other is about to commit.
CREATE OR REPLACE FUNCTION is_code_indexed(address bytea, code_hash bytea) RETURNS boolean
LANGUAGE sql STABLE
RETURN coalesce($2 = (SELECT c.code_hash
    FROM contracts c
    WHERE c.address = $1
    ORDER BY c.block_number DESC
    LIMIT 1), false);

CREATE OR REPLACE FUNCTION mark_verified_contracts() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('scan.verified_contracts'));
    IF EXISTS (SELECT
        FROM changed c
        CROSS JOIN LATERAL (
            SELECT v.code_hash, v.is_indexed
            FROM verified_contracts v
            WHERE v.address = c.address
            OFFSET 0) AS v
        WHERE v.is_indexed <> is_code_indexed(c.address, v.code_hash))
    THEN
        UPDATE verified_contracts v
        SET is_indexed = NOT v.is_indexed
        WHERE v.address IN (SELECT c.address FROM changed c)
            AND v.is_indexed <> is_code_indexed(v.address, v.code_hash);
    END IF;
    RETURN NULL;
END
$$;
CREATE OR REPLACE FUNCTION mark_verified_contract() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('scan.verified_contracts'));
    NEW.is_indexed := is_code_indexed(NEW.address, NEW.code_hash);
    RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER verified_contracts_inserted BEFORE INSERT ON verified_contracts
    FOR EACH ROW EXECUTE FUNCTION mark_verified_contract();
CREATE OR REPLACE TRIGGER contracts_inserted AFTER INSERT ON contracts
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_verified_contracts();
CREATE OR REPLACE TRIGGER contracts_deleted AFTER DELETE ON contracts
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_verified_contracts();
-- What an indexer of an earlier release did until it met these triggers, such as between migration
-- 0016 and this. Creating them has waited for its transactions, and its next ones have them. An
-- UPDATE of no rows would run verified_contracts_announced, too, and end all cached responses.
DO $$
BEGIN
    IF EXISTS (SELECT
        FROM verified_contracts v
        WHERE v.is_indexed <> is_code_indexed(v.address, v.code_hash))
    THEN
        UPDATE verified_contracts v
        SET is_indexed = NOT v.is_indexed
        WHERE v.is_indexed <> is_code_indexed(v.address, v.code_hash);
    END IF;
END
$$;

-- Rows in Etherscan's form: every value is text. `called` is whom the transaction called, for the name
-- of its function. `missing` is what scan/etherscan reads from the node: nothing, the `input`, or `all`
-- that the index may lack. Before Byzantium a receipt has no status, which a legacy transaction that
-- succeeded in a block without a base fee does not settle.
CREATE OR REPLACE FUNCTION seconds(value timestamptz) RETURNS bigint LANGUAGE sql STABLE
RETURN extract(epoch FROM value)::bigint;

CREATE OR REPLACE FUNCTION etherscan_transaction_record(t transactions, b blocks, head bigint)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"blockNumber":"%s","timeStamp":"%s","hash":"%s","blockHash":"%s","transactionIndex":"%s",'
    '"from":"%s","to":"%s","value":"%s","gasPrice":"%s","isError":"%s","contractAddress":"%s",'
    '"gasUsed":"%s","confirmations":"%s","nonce":"%s","gas":"%s","cumulativeGasUsed":"%s",'
    '"methodId":"%s","input":"0x","txreceipt_status":"%s","missing":"%s"}',
    t.block_number, seconds(b.timestamp), hex(t.hash), hex(b.hash), t.transaction_index,
    hex(t.from_address), coalesce(hex(t.to_address), ''), t.value, t.gas_price,
    CASE WHEN t.status THEN 0 ELSE 1 END, coalesce(hex(t.contract_address), ''), t.gas_used,
    head - t.block_number + 1, integer_text(t.nonce), integer_text(t.gas_limit),
    integer_text(t.cumulative_gas_used), coalesce(hex(t.method), '0x'), t.status::integer,
    CASE WHEN t.type IS NULL OR (t.status AND t.type = '' AND b.base_fee_per_gas IS NULL) THEN 'all'
        WHEN t.method IS NOT NULL THEN 'input' END)::json;

CREATE OR REPLACE FUNCTION etherscan_token_transfer_record(
    x token_transfers, t transactions, b blocks, k tokens, head bigint)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"blockNumber":"%s","timeStamp":"%s","hash":"%s","blockHash":"%s","from":"%s",'
    '"contractAddress":"%s","to":"%s","value":"%s","tokenID":"%s","tokenName":%s,"tokenSymbol":%s,'
    '"tokenDecimal":"%s","transactionIndex":"%s","gasPrice":"%s","gasUsed":"%s",'
    '"confirmations":"%s","called":"%s","nonce":"%s","gas":"%s","cumulativeGasUsed":"%s",'
    '"methodId":"%s","missing":"%s"}',
    x.block_number, seconds(b.timestamp), hex(t.hash), hex(b.hash), hex(x.from_address),
    hex(x.token_address), hex(x.to_address), x.value, x.token_id, json_text(k.name),
    json_text(k.symbol), k.decimals, x.transaction_index, t.gas_price, t.gas_used,
    head - x.block_number + 1, hex(t.to_address), integer_text(t.nonce),
    integer_text(t.gas_limit), integer_text(t.cumulative_gas_used), coalesce(hex(t.method), '0x'),
    CASE WHEN t.type IS NULL THEN 'all' END)::json;

-- What the index does not have of it is empty.
CREATE OR REPLACE FUNCTION etherscan_internal_transfer_record(
    i internal_transfers, transaction_hash bytea, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"blockNumber":"%s","timeStamp":"%s","hash":"%s","from":"%s","to":"%s","value":"%s",'
    '"contractAddress":"%s","input":"","type":"%s","gas":"","gasUsed":"","traceId":"",'
    '"isError":"0","errCode":""}',
    i.block_number, seconds(mined_at), hex(transaction_hash), hex(i.from_address),
    CASE WHEN i.type IN (1, 2) THEN '' ELSE hex(i.to_address) END, i.value,
    CASE WHEN i.type IN (1, 2) THEN hex(i.to_address) ELSE '' END,
    internal_transfer_type(i.type))::json;

-- Verifications that are asked for now and whose result is asked for later, by whoever has the id.
-- A job that is not over has its request, and waits until `due_at`: to be run, or, while it runs,
-- to be run by somebody else, since its lease has expired then.
CREATE TABLE IF NOT EXISTS verification_jobs (
    id uuid PRIMARY KEY,
    client text NOT NULL,          -- the address that the job is charged to
    address bytea NOT NULL,
    status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'done', 'failed')),
    created_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    due_at timestamptz NOT NULL,
    lease bigint,                  -- of the run under way; null: none is
    attempts integer NOT NULL DEFAULT 0, -- runs begun, without those that were postponed
    request json CHECK (octet_length(request::text) <= 12582912), -- null when the job is over
    match text CHECK (match IN ('full', 'partial')),
    creation_match text CHECK (creation_match IN ('full', 'partial')),
    message text,
    warning text,
    error_code text,               -- of a failed job
    CHECK ((status IN ('done', 'failed')) = (finished_at IS NOT NULL)),
    CHECK ((finished_at IS NULL) = (request IS NOT NULL)),
    CHECK ((status = 'running') = (lease IS NOT NULL)),
    CHECK ((status = 'failed') = (error_code IS NOT NULL))
);
-- serves verification/jobs_claim, verification/jobs_count_due, verification/jobs_count_unfinished, verification/jobs_extend_leases, verification/jobs_postpone
CREATE INDEX IF NOT EXISTS verification_jobs_unfinished
    ON verification_jobs (created_at, id) WHERE finished_at IS NULL;
-- serves verification/jobs_sweep
CREATE INDEX IF NOT EXISTS verification_jobs_by_age ON verification_jobs (created_at);

-- Signatures of functions and events that operators import, to decode calls and logs of contracts
-- that nobody verified. An event's first topic begins with the same four bytes.
CREATE TABLE IF NOT EXISTS signatures (
    selector bytea NOT NULL CHECK (octet_length(selector) = 4),
    signature text COLLATE "C" NOT NULL,
    PRIMARY KEY (selector, signature)
);
CREATE OR REPLACE TRIGGER signatures_announced
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON signatures
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();

-- Why transactions failed, as read from the node's traces when somebody asked: undecoded, since ABIs are
-- verified later. A row is of its block alone: after a reorganisation it is ignored, and replaced. The
-- newest 100,000 are kept.
CREATE TABLE IF NOT EXISTS transaction_failures (
    transaction_hash bytea PRIMARY KEY,
    block_hash bytea NOT NULL,
    number bigint GENERATED BY DEFAULT AS IDENTITY,
    kind text NOT NULL,
    words text NOT NULL CHECK (octet_length(words) <= 1000), -- the node's, of a kind that is not known
    data bytea NOT NULL CHECK (octet_length(data) <= 8192),  -- what the contract reverted with, cut
    data_size integer NOT NULL,    -- before it was cut
    type text NOT NULL,            -- of the call that failed: CALL, CREATE, …
    trace_address integer[] NOT NULL,
    selector bytea NOT NULL CHECK (octet_length(selector) <= 4),
    code_addresses bytea[] NOT NULL CHECK (cardinality(code_addresses) <= 16), -- from that call outwards
    address bytea                  -- of the code that failed; null: it was that of a creation
);
-- serves contracts/transaction_failures_put
CREATE UNIQUE INDEX IF NOT EXISTS transaction_failures_by_number ON transaction_failures (number);

-- Views for people and their tools (docs/tables.md), which keep their columns between releases; the
-- tables do not. Addresses and hashes are hex. Columns named _bytes are the tables' own, which have
-- indexes: compare them with v1.bytes('0x...').
DO $$
BEGIN
    IF to_regnamespace('v1') IS NULL THEN
        IF NOT has_database_privilege(current_database(), 'CREATE') THEN
            RAISE insufficient_privilege USING HINT = format(
                'The role %I may not create the schema v1, which this version needs. Let the owner'
                ' of the database run: CREATE SCHEMA v1 AUTHORIZATION %I', current_user, current_user);
        END IF;
        CREATE SCHEMA v1;
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION v1.bytes(hex text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT
RETURN decode(substr(hex, 3), 'hex');

CREATE OR REPLACE VIEW v1.blocks AS
SELECT b.number, hex(b.hash) AS hash, hex(b.parent_hash) AS parent_hash, b.timestamp,
    hex(b.miner) AS miner, b.transaction_count, b.token_transfer_count, b.dex_trade_count,
    b.gas_used, b.gas_limit, b.base_fee_per_gas, b.size
FROM blocks b;

CREATE OR REPLACE VIEW v1.transactions AS
SELECT t.ordinal, hex(t.hash) AS hash, t.block_number, b.timestamp, t.transaction_index,
    hex(t.from_address) AS from_address, hex(t.to_address) AS to_address,
    hex(t.contract_address) AS contract_address, t.value AS value_wei, t.value / 1e18 AS value_coin,
    t.gas_used, t.gas_price, t.gas_used * t.gas_price / 1e18 AS fee_coin, t.status,
    hex(t.method) AS method, integer_text(t.nonce)::numeric AS nonce,
    t.hash AS hash_bytes, t.from_address AS from_bytes, t.to_address AS to_bytes
FROM transactions t
JOIN blocks b ON b.number = t.block_number;

CREATE OR REPLACE VIEW v1.token_transfers AS
SELECT x.ordinal, x.block_number, b.timestamp, x.log_index, coalesce(x.batch_index, 0) AS batch_index,
    hex(x.token_address) AS token_address, k.symbol, k.type AS token_type,
    hex(x.from_address) AS from_address, hex(x.to_address) AS to_address, x.value,
    x.value / power(10::numeric, coalesce(k.decimals, 0)) AS amount, x.token_id,
    x.token_address AS token_bytes, x.from_address AS from_bytes, x.to_address AS to_bytes
FROM token_transfers x
JOIN blocks b ON b.number = x.block_number
LEFT JOIN tokens k ON k.address = x.token_address;

CREATE OR REPLACE VIEW v1.internal_transfers AS
SELECT i.ordinal, i.block_number, b.timestamp, i.transaction_index, i.transfer_index,
    internal_transfer_type(i.type) AS type, hex(i.from_address) AS from_address,
    hex(i.to_address) AS to_address, i.value AS value_wei, i.value / 1e18 AS value_coin,
    i.from_address AS from_bytes, i.to_address AS to_bytes
FROM internal_transfers i
JOIN blocks b ON b.number = i.block_number;

CREATE OR REPLACE VIEW v1.dex_trades AS
SELECT d.ordinal, d.block_number, b.timestamp, d.log_index, e.name AS dex,
    hex(d.pool_address) AS pool_address, hex(d.maker) AS maker,
    hex(d.token_in) AS token_in, given.symbol AS symbol_in,
    d.amount_in / power(10::numeric, coalesce(given.decimals, 0)) AS amount_in,
    hex(d.token_out) AS token_out, taken.symbol AS symbol_out,
    d.amount_out / power(10::numeric, coalesce(taken.decimals, 0)) AS amount_out,
    d.pool_address AS pool_bytes, d.maker AS maker_bytes
FROM dex_trades d
JOIN blocks b ON b.number = d.block_number
JOIN dexes e ON e.dex_id = d.dex_id
LEFT JOIN tokens given ON given.address = d.token_in
LEFT JOIN tokens taken ON taken.address = d.token_out;

CREATE OR REPLACE VIEW v1.tokens AS
SELECT hex(k.address) AS address, k.name, k.symbol, k.type, k.decimals,
    k.total_supply / power(10::numeric, k.decimals) AS total_supply, k.holder_count,
    k.transfer_count, k.block_number AS first_block, k.address AS address_bytes
FROM tokens k;

CREATE OR REPLACE VIEW v1.token_holders AS
SELECT hex(h.token_address) AS token_address, k.symbol, hex(h.holder) AS holder,
    h.balance / power(10::numeric, coalesce(k.decimals, 0)) AS balance,
    h.token_address AS token_bytes, h.holder AS holder_bytes
FROM token_holders h
LEFT JOIN tokens k ON k.address = h.token_address
WHERE h.balance <> 0;

CREATE OR REPLACE VIEW v1.addresses AS
SELECT hex(a.address) AS address, l.label, a.first_seen AS first_block, a.last_seen AS last_block,
    a.transaction_count, a.transfer_count, a.trade_count, a.balance / 1e18 AS balance_coin,
    a.balance_block, a.address AS address_bytes
FROM addresses a
LEFT JOIN labels l ON l.address = a.address;

CREATE OR REPLACE VIEW v1.daily_stats AS
SELECT d.day, d.transaction_count, d.failed_transaction_count, d.active_address_count,
    d.new_address_count, d.created_contract_count, d.token_transfer_count, d.dex_trade_count,
    d.gas_used, d.fees_wei / 1e18 AS fees_coin, d.burnt_wei / 1e18 AS burnt_coin
FROM daily_stats d;

CREATE OR REPLACE VIEW v1.verified_contracts AS
SELECT hex(v.address) AS address, v.contract_name, v.compiler_version, v.match, v.license, v.abi,
    v.verified_at, v.address AS address_bytes
FROM verified_contracts v
WHERE v.is_indexed;

-- What every role may do by default, and one that only reads should not: fill the disk with temporary
-- tables and large objects, and take the locks of the indexer. Roles that write the chain keep it.
CREATE OR REPLACE FUNCTION revoke_public_rights() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    writer name;
    routine regprocedure;
    is_superuser boolean := (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
    routines regprocedure[] := ARRAY(
        SELECT p.oid::regprocedure FROM pg_proc p
        WHERE is_superuser AND p.pronamespace = 'pg_catalog'::regnamespace
            AND p.proname ~ '^(pg_(try_)?advisory|lo_creat|lo_from_bytea)'
            AND has_function_privilege('public', p.oid, 'EXECUTE'));
BEGIN
    FOR writer IN
        SELECT r.rolname FROM pg_roles r
        WHERE NOT r.rolsuper AND has_table_privilege(r.oid, 'chain', 'INSERT')
    LOOP
        EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO %I', current_database(), writer);
        IF has_schema_privilege('public', 'public', 'CREATE') THEN
            EXECUTE format('GRANT CREATE ON SCHEMA public TO %I', writer);
        END IF;
        FOREACH routine IN ARRAY routines LOOP
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', routine, writer);
        END LOOP;
    END LOOP;
    -- Who does not own them is given a warning, and nothing is revoked.
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    FOREACH routine IN ARRAY routines LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', routine);
    END LOOP;
END
$$;

-- For `scan sql-role`. What it may read is listed, so that a new table is not readable by accident.
CREATE OR REPLACE FUNCTION create_reading_role(name text, password text, statement_timeout text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user) THEN
        RAISE insufficient_privilege USING HINT = format(
            'The role %I may not create roles. Let a superuser run: ALTER ROLE %I CREATEROLE',
            current_user, current_user);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = name) THEN
        EXECUTE format('CREATE ROLE %I', name);
        EXECUTE format('COMMENT ON ROLE %I IS %L', name, 'made by scan sql-role');
    ELSIF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = name
        AND shobj_description(r.oid, 'pg_authid') = 'made by scan sql-role') THEN
        RAISE insufficient_privilege USING HINT = format(
            'There is a role %s already, which scan sql-role has not made.', name);
    END IF;
    PERFORM revoke_public_rights();
    EXECUTE format('ALTER ROLE %I LOGIN PASSWORD %L CONNECTION LIMIT 4', name, password);
    EXECUTE format('ALTER ROLE %I SET default_transaction_read_only = on', name);
    EXECUTE format('ALTER ROLE %I SET statement_timeout = %L', name, statement_timeout);
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        EXECUTE format('ALTER ROLE %I SET temp_file_limit = %L', name, '10GB');
    END IF;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), name);
    EXECUTE format('GRANT USAGE ON SCHEMA public, v1 TO %I', name);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA v1 TO %I', name);
    EXECUTE format(
        'GRANT SELECT ON addresses, blocks, chain, codes, contracts, daily_stats, dex_trades, dexes,'
        ' event_topics, internal_transfers, item_balances, labels, logs, pools, token_holders,'
        ' token_items, token_transfers, tokens, transactions, verified_contracts, withdrawals TO %I',
        name);
END
$$;

-- Partitions of transactions, token_transfers, internal_transfers, dex_trades and logs, by ordinal. Such
-- a table is a plain one until it nears SCAN_PARTITION_ROWS rows; then the indexer makes it the first
-- partition, <table>_0, of a partitioned table that takes its name. Later partitions are named by their
-- first ordinal and made ahead. See docs/scaling.md.
--
-- Makes a plain table the first partition, of the ordinals below `bound`, without reading it: a valid
-- constraint <table>_bound says so already. What refers to the table by its number and not by its name
-- is made again: views, functions of its row type, rights, publications. Returns null, or why it
-- cannot be done, with nothing changed.
CREATE OR REPLACE FUNCTION partition_table(long_table text, bound bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    source pg_class;
    parent text;
    part text;
    obstacle text;
    functions oid[];
    outdated text;
    statement text;
    statements text[];
BEGIN
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', long_table);
    SELECT c.* INTO STRICT source FROM pg_class c WHERE c.oid = to_regclass(quote_ident(long_table));
    IF source.relkind = 'p' THEN
        RETURN NULL;
    END IF;
    parent := format('%s.%I', source.relnamespace::regnamespace, long_table);
    part := format('%s.%I', source.relnamespace::regnamespace, long_table || '_0');

    SELECT string_agg(DISTINCT o.name, ', ') INTO obstacle
    FROM (
        SELECT format('materialized view %s', r.ev_class::regclass) AS name
        FROM pg_depend d
        JOIN pg_rewrite r ON r.oid = d.objid
        JOIN pg_class v ON v.oid = r.ev_class AND v.relkind = 'm'
        WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
            AND d.refobjid = source.oid
        UNION ALL
        SELECT format('trigger %I', t.tgname) FROM pg_trigger t
        WHERE t.tgrelid = source.oid AND NOT t.tgisinternal
        UNION ALL
        SELECT format('foreign key %I', k.conname) FROM pg_constraint k
        WHERE k.contype = 'f' AND source.oid IN (k.conrelid, k.confrelid)
        UNION ALL
        SELECT format('rule %I', r.rulename) FROM pg_rewrite r WHERE r.ev_class = source.oid
        UNION ALL
        SELECT 'row security' WHERE source.relrowsecurity
        UNION ALL
        SELECT 'a replica identity' WHERE source.relreplident <> 'd'
        UNION ALL
        SELECT 'inheritance' FROM pg_inherits i WHERE source.oid IN (i.inhrelid, i.inhparent)
        UNION ALL
        SELECT 'another owner' WHERE NOT pg_has_role(source.relowner, 'USAGE')
    ) AS o;
    IF obstacle IS NOT NULL THEN
        RETURN 'it has ' || obstacle;
    END IF;

    -- Those of its row type, those whose parsed body reads it, and those that use these.
    functions := ARRAY(
        WITH RECURSIVE dependent AS (
            SELECT d.objid, 1 AS depth
            FROM pg_depend d
            WHERE d.classid = 'pg_proc'::regclass
                AND ((d.refclassid = 'pg_class'::regclass AND d.refobjid = source.oid)
                    OR (d.refclassid = 'pg_type'::regclass AND d.refobjid IN (
                        SELECT t.oid FROM pg_type t
                        WHERE t.oid = source.reltype OR t.typelem = source.reltype)))
            UNION
            SELECT d.objid, u.depth + 1
            FROM dependent u
            JOIN pg_depend d ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = u.objid
                AND d.classid = 'pg_proc'::regclass
        )
        SELECT u.objid FROM dependent u GROUP BY u.objid ORDER BY max(u.depth), u.objid
    );
    statements := ARRAY(
        SELECT s.text
        FROM (
            SELECT 1 AS step, 0::bigint AS number,
                format('ALTER TABLE %s OWNER TO %s', parent, source.relowner::regrole) AS text
            WHERE source.relowner::regrole::text <> quote_ident(current_user)
            UNION ALL
            SELECT 2, 0, format('GRANT %s ON %s TO %s%s', g.privilege_type, parent,
                CASE WHEN g.grantee = 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END,
                CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
            FROM aclexplode(source.relacl) AS g
            WHERE g.grantee <> source.relowner
            UNION ALL
            SELECT 2, a.attnum, format('GRANT %s (%I) ON %s TO %s%s', g.privilege_type, a.attname, parent,
                CASE WHEN g.grantee = 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END,
                CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
            FROM pg_attribute a
            CROSS JOIN LATERAL aclexplode(a.attacl) AS g
            WHERE a.attrelid = source.oid AND NOT a.attisdropped
            UNION ALL
            SELECT 3, a.attnum, format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', parent,
                a.attname, a.attstattarget)
            FROM pg_attribute a
            WHERE a.attrelid = source.oid AND a.attnum > 0 AND NOT a.attisdropped
                AND a.attstattarget >= 0
            UNION ALL
            SELECT 4, 0, format('COMMENT ON TABLE %s IS %L', parent,
                obj_description(source.oid, 'pg_class'))
            WHERE obj_description(source.oid, 'pg_class') IS NOT NULL
            UNION ALL
            SELECT 5, i.indexrelid::bigint, CASE WHEN k.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
                ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s', parent, k.conname,
                    pg_get_constraintdef(k.oid)) END
            FROM pg_index i
            LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid
            WHERE i.indrelid = source.oid AND i.indisvalid
            UNION ALL
            SELECT 6, 0, format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (0) TO (%s)', parent,
                part, bound)
            UNION ALL
            SELECT 7, 0, format('ALTER TABLE %s DROP CONSTRAINT %I', part, long_table || '_bound')
            UNION ALL
            SELECT 8, f.number, pg_get_functiondef(f.oid)
            FROM unnest(functions) WITH ORDINALITY AS f(oid, number)
            UNION ALL
            SELECT 9, f.number, format('REVOKE ALL ON FUNCTION %I.%I(%s) FROM PUBLIC',
                p.pronamespace::regnamespace, p.proname, pg_get_function_identity_arguments(p.oid))
            FROM unnest(functions) WITH ORDINALITY AS f(oid, number)
            JOIN pg_proc p ON p.oid = f.oid AND p.proacl IS NOT NULL
            UNION ALL
            SELECT 10, f.number, format('GRANT EXECUTE ON FUNCTION %I.%I(%s) TO %s',
                p.pronamespace::regnamespace, p.proname, pg_get_function_identity_arguments(p.oid),
                CASE WHEN g.grantee = 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END)
            FROM unnest(functions) WITH ORDINALITY AS f(oid, number)
            JOIN pg_proc p ON p.oid = f.oid
            CROSS JOIN LATERAL aclexplode(p.proacl) AS g
            UNION ALL
            SELECT 11, v.oid::bigint, format('CREATE OR REPLACE VIEW %s%s AS %s', v.oid::regclass,
                ' WITH (' || array_to_string(v.reloptions, ', ') || ')', pg_get_viewdef(v.oid))
            FROM pg_class v
            WHERE v.relkind = 'v' AND EXISTS (
                SELECT FROM pg_depend d
                JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class = v.oid
                WHERE d.classid = 'pg_rewrite'::regclass
                    AND ((d.refclassid = 'pg_class'::regclass AND d.refobjid = source.oid)
                        OR (d.refclassid = 'pg_type'::regclass AND d.refobjid = source.reltype)
                        OR (d.refclassid = 'pg_proc'::regclass AND d.refobjid = ANY (functions))))
            UNION ALL
            SELECT 12, q.oid::bigint, format('ALTER PUBLICATION %I DROP TABLE %s', q.pubname, part)
            FROM pg_publication_rel r
            JOIN pg_publication q ON q.oid = r.prpubid
            WHERE r.prrelid = source.oid
            UNION ALL
            SELECT 13, q.oid::bigint, format('ALTER PUBLICATION %I SET (publish_via_partition_root = true)',
                q.pubname)
            FROM pg_publication q
            WHERE NOT q.pubviaroot AND (q.puballtables
                OR EXISTS (SELECT FROM pg_publication_rel r
                    WHERE r.prpubid = q.oid AND r.prrelid = source.oid)
                OR EXISTS (SELECT FROM pg_publication_namespace n
                    WHERE n.pnpubid = q.oid AND n.pnnspid = source.relnamespace))
            UNION ALL
            SELECT 14, q.oid::bigint, format('ALTER PUBLICATION %I ADD TABLE %s%s%s', q.pubname, parent,
                (SELECT ' (' || string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) || ')'
                    FROM pg_attribute a
                    WHERE a.attrelid = source.oid AND a.attnum = ANY (r.prattrs::smallint[])),
                ' WHERE (' || pg_get_expr(r.prqual, r.prrelid) || ')')
            FROM pg_publication_rel r
            JOIN pg_publication q ON q.oid = r.prpubid
            WHERE r.prrelid = source.oid
        ) AS s
        ORDER BY s.step, s.number
    );

    FOR statement IN
        SELECT format('ALTER INDEX %s RENAME TO %I', i.indexrelid::regclass, x.relname || '_0')
        FROM pg_index i
        JOIN pg_class x ON x.oid = i.indexrelid
        WHERE i.indrelid = source.oid
        UNION ALL
        SELECT format('ALTER TABLE %s RENAME TO %I', parent, long_table || '_0')
        UNION ALL
        SELECT format('CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING INDEXES)'
            ' PARTITION BY RANGE (ordinal)%s', parent, part,
            (SELECT format(' TABLESPACE %I', s.spcname) FROM pg_tablespace s
                WHERE s.oid = source.reltablespace))
        UNION ALL
        SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', parent, long_table || '_bound')
    LOOP
        EXECUTE statement;
    END LOOP;
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
    SELECT string_agg(p.oid::regprocedure::text, ', ') INTO outdated
    FROM pg_proc p
    WHERE p.oid = ANY (functions) AND EXISTS (
        SELECT FROM pg_type t
        WHERE (t.oid = source.reltype OR t.typelem = source.reltype) AND t.oid = ANY (p.proargtypes));
    IF outdated IS NOT NULL THEN
        EXECUTE 'DROP FUNCTION ' || outdated;
    END IF;
    RETURN NULL;
EXCEPTION
    WHEN lock_not_available OR transaction_rollback OR insufficient_resources
        OR operator_intervention OR system_error THEN
        RAISE;
    WHEN OTHERS THEN
        RETURN SQLERRM;
END
$$;

-- Makes the partition of the ordinals from `first` to below `bound`. Readers and writers go on.
CREATE OR REPLACE FUNCTION add_partition(long_table text, first bigint, bound bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    parent pg_class;
    newest pg_class;
    part text;
    statement text;
BEGIN
    SELECT c.* INTO STRICT parent FROM pg_class c WHERE c.oid = to_regclass(quote_ident(long_table));
    SELECT c.* INTO newest
    FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = parent.oid
    ORDER BY c.oid DESC
    LIMIT 1;
    part := format('%s.%I', parent.relnamespace::regnamespace, long_table || '_' || first);
    FOR statement IN
        SELECT format('CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING INDEXES)%s%s', part,
            parent.oid::regclass, ' WITH (' || array_to_string(newest.reloptions, ', ') || ')',
            (SELECT format(' TABLESPACE %I', s.spcname) FROM pg_tablespace s
                WHERE s.oid = parent.reltablespace))
        UNION ALL
        SELECT format('ALTER TABLE %s OWNER TO %s', part, parent.relowner::regrole)
        WHERE parent.relowner::regrole::text <> quote_ident(current_user)
        UNION ALL
        SELECT format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', part, a.attname,
            a.attstattarget)
        FROM pg_attribute a
        WHERE a.attrelid = parent.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attstattarget >= 0
        UNION ALL
        SELECT format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)',
            parent.oid::regclass, part, first, bound)
    LOOP
        EXECUTE statement;
    END LOOP;
END
$$;

-- Statistics of a whole long table, which autovacuum makes of its partitions alone.
CREATE OR REPLACE FUNCTION analyze_partitioned(long_table text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ANALYZE %s %I', CASE WHEN current_setting('server_version_num')::integer >= 180000
        THEN 'ONLY' END, long_table);
END
$$;
