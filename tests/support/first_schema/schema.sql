-- The whole schema, safe to repeat. Amounts are uint256 (numeric(78,0)), hashes and addresses bytea.
-- Base tables hold what the chain says; derived ones (addresses, token_holders, dexes,
-- list_checkpoints and the counters of tokens) follow from them and can be recomputed.

-- The one chain that this database holds, and how far it has come.
CREATE TABLE IF NOT EXISTS chain (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    chain_id numeric(78, 0) NOT NULL,
    genesis_hash bytea NOT NULL,
    start_block bigint NOT NULL,
    token_count bigint NOT NULL DEFAULT 0,
    node_head bigint,              -- the newest block number the node has told
    problem text,                  -- why the head does not advance, null when it does
    checked_at timestamptz
);

-- *_before count the rows of older blocks: they turn an ordinal into a block in one index probe.
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
    gas_price_sum numeric NOT NULL -- over its transactions, for the network's average
);
-- serves transactions_list, token_transfers_list, dex_trades_list: ordinal to block
CREATE INDEX IF NOT EXISTS blocks_transactions_before ON blocks (transactions_before, number);
CREATE INDEX IF NOT EXISTS blocks_token_transfers_before ON blocks (token_transfers_before, number);
CREATE INDEX IF NOT EXISTS blocks_dex_trades_before ON blocks (dex_trades_before, number);
-- serves addresses_last_seen
CREATE INDEX IF NOT EXISTS blocks_by_miner ON blocks (miner, number);

CREATE TABLE IF NOT EXISTS transactions (
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
    PRIMARY KEY (block_number, transaction_index)
);
-- A hash index takes a third of a btree's room; serves transactions_get
CREATE INDEX IF NOT EXISTS transactions_by_hash ON transactions USING hash (hash);
-- serve transactions_list_by_address, transactions_list_by_party, addresses_get, addresses_last_seen
CREATE INDEX IF NOT EXISTS transactions_by_from
    ON transactions (from_address, block_number, transaction_index);
CREATE INDEX IF NOT EXISTS transactions_by_to
    ON transactions (to_address, block_number, transaction_index) WHERE to_address IS NOT NULL;
CREATE INDEX IF NOT EXISTS transactions_by_contract
    ON transactions (contract_address, block_number, transaction_index)
    WHERE contract_address IS NOT NULL;

-- Which contracts emitted a log in which block: an address is seen there too.
CREATE TABLE IF NOT EXISTS log_emitters (
    address bytea NOT NULL,
    block_number bigint NOT NULL,
    PRIMARY KEY (address, block_number)
);
-- serves the unwinding of a reorganisation; rows come in block order, so a BRIN is enough
CREATE INDEX IF NOT EXISTS log_emitters_by_block ON log_emitters USING brin (block_number);

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
    supply_block bigint,           -- the block total_supply was read at; null: to be read again
    wraps boolean NOT NULL,        -- its Deposit and Withdrawal mint and burn, as WETH's do
    holder_count bigint NOT NULL DEFAULT 0,
    negative_holder_count bigint NOT NULL DEFAULT 0, -- above 0: its events do not add up
    transfer_count bigint NOT NULL DEFAULT 0
);
-- serves tokens_list
CREATE INDEX IF NOT EXISTS tokens_by_holder_count ON tokens (holder_count, address);
-- serves tokens_to_refresh
CREATE INDEX IF NOT EXISTS tokens_stale ON tokens (address) WHERE supply_block IS NULL;
CREATE INDEX IF NOT EXISTS tokens_by_block ON tokens USING brin (block_number);

CREATE TABLE IF NOT EXISTS token_transfers (
    block_number bigint NOT NULL,
    log_index integer NOT NULL,
    batch_index integer NOT NULL,
    transaction_index integer NOT NULL,
    token_address bytea NOT NULL,
    from_address bytea NOT NULL,
    to_address bytea NOT NULL,
    value numeric(78, 0) NOT NULL,
    token_id numeric(78, 0),
    PRIMARY KEY (block_number, log_index, batch_index)
);
-- serve token_transfers_list_by_address, token_transfers_list_by_party, addresses_last_seen
CREATE INDEX IF NOT EXISTS token_transfers_by_from
    ON token_transfers (from_address, block_number, log_index, batch_index);
CREATE INDEX IF NOT EXISTS token_transfers_by_to
    ON token_transfers (to_address, block_number, log_index, batch_index);
-- serves token_transfers_list_by_party
CREATE INDEX IF NOT EXISTS token_transfers_by_token
    ON token_transfers (token_address, block_number, log_index, batch_index);

-- Net balance by events. A balance of zero has no row; below zero only where the events lie.
CREATE TABLE IF NOT EXISTS token_holders (
    holder bytea NOT NULL,
    token_address bytea NOT NULL,
    balance numeric NOT NULL,      -- a BEP1155's is the sum over its ids, so it may exceed uint256
    PRIMARY KEY (holder, token_address)
);
-- serves tokens_holders
CREATE INDEX IF NOT EXISTS token_holders_by_balance
    ON token_holders (token_address, balance, holder);

-- serves token_holders_sweep
CREATE INDEX IF NOT EXISTS token_holders_at_zero ON token_holders (holder) WHERE balance = 0;

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
    token1 bytea NOT NULL
);
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
    block_number bigint NOT NULL,
    log_index integer NOT NULL,
    transaction_index integer NOT NULL,
    dex_id integer NOT NULL,
    pool_address bytea NOT NULL,
    maker bytea NOT NULL,
    token_in bytea NOT NULL,
    token_out bytea NOT NULL,
    amount_in numeric(78, 0) NOT NULL,
    amount_out numeric(78, 0) NOT NULL,
    PRIMARY KEY (block_number, log_index)
);
-- serve dex_trades_list_by_maker, dex_trades_list_by_dex
CREATE INDEX IF NOT EXISTS dex_trades_by_maker ON dex_trades (maker, block_number, log_index);
CREATE INDEX IF NOT EXISTS dex_trades_by_dex ON dex_trades (dex_id, block_number, log_index);

-- Every address seen, its exact counters, and its balance where the indexer has read it.
CREATE TABLE IF NOT EXISTS addresses (
    address bytea PRIMARY KEY,
    first_seen bigint NOT NULL,    -- block numbers
    last_seen bigint,              -- null only inside the transaction that unwinds
    transaction_count bigint NOT NULL,
    sent_count bigint NOT NULL,
    received_count bigint NOT NULL,
    transfer_count bigint NOT NULL,
    transfer_sent_count bigint NOT NULL,
    transfer_received_count bigint NOT NULL,
    trade_count bigint NOT NULL,
    balance numeric(78, 0),
    balance_block bigint           -- the block balance was read at; null: to be read
);
-- serves addresses_last_seen
CREATE INDEX IF NOT EXISTS addresses_unwound ON addresses (address) WHERE last_seen IS NULL;
-- serves addresses_without_balance
CREATE INDEX IF NOT EXISTS addresses_stale ON addresses (address) WHERE balance_block IS NULL;

-- Names that operators give to addresses.
CREATE TABLE IF NOT EXISTS labels (
    address bytea PRIMARY KEY,
    label text NOT NULL
);

-- Every 1,000th entry of a list: where ordinal N of it is, so that a deep page starts near by.
CREATE TABLE IF NOT EXISTS list_checkpoints (
    list text NOT NULL,            -- 'transactions_by_from', …: see lists_checkpoint.sql
    key bytea NOT NULL,            -- an address, or the name of an exchange in UTF-8
    ordinal bigint NOT NULL,       -- from 0, oldest first
    block_number bigint NOT NULL,
    position integer NOT NULL,     -- transaction_index or log_index
    batch_index integer NOT NULL,
    PRIMARY KEY (list, key, ordinal)
);
CREATE INDEX IF NOT EXISTS list_checkpoints_by_block ON list_checkpoints (block_number);

-- One shape per record, used by lists, details and queries alike. They are inlined by the planner.
CREATE OR REPLACE FUNCTION hex(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN '0x' || encode(value, 'hex');

CREATE OR REPLACE FUNCTION iso(value timestamptz) RETURNS text LANGUAGE sql STABLE
RETURN to_char(value AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');

CREATE OR REPLACE FUNCTION block_record(b blocks) RETURNS json LANGUAGE sql STABLE
RETURN json_build_object(
    'number', b.number, 'hash', hex(b.hash), 'timestamp', iso(b.timestamp), 'miner', hex(b.miner),
    'txCount', b.transaction_count, 'gasUsed', b.gas_used::text, 'gasLimit', b.gas_limit::text,
    'parentHash', hex(b.parent_hash));

CREATE OR REPLACE FUNCTION transaction_record(t transactions, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN json_build_object(
    'hash', hex(t.hash), 'blockNumber', t.block_number, 'fromAddress', hex(t.from_address),
    'toAddress', hex(t.to_address), 'value', t.value::text, 'gasPrice', t.gas_price::text,
    'gasUsed', t.gas_used::text, 'status', t.status, 'timestamp', iso(mined_at),
    'transactionIndex', t.transaction_index, 'contractAddress', hex(t.contract_address));

CREATE OR REPLACE FUNCTION token_record(t tokens) RETURNS json LANGUAGE sql STABLE
RETURN json_build_object(
    'address', hex(t.address), 'name', t.name, 'symbol', t.symbol, 'decimals', t.decimals,
    'type', t.type, 'totalSupply', t.total_supply::text, 'holderCount', t.holder_count);

CREATE OR REPLACE FUNCTION token_transfer_record(
    x token_transfers, transaction_hash bytea, token_type text, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN json_build_object(
    'transactionHash', hex(transaction_hash), 'blockNumber', x.block_number,
    'logIndex', x.log_index, 'batchIndex', x.batch_index, 'tokenAddress', hex(x.token_address),
    'tokenType', token_type, 'fromAddress', hex(x.from_address), 'toAddress', hex(x.to_address),
    'value', x.value::text, 'tokenId', x.token_id::text, 'timestamp', iso(mined_at));

CREATE OR REPLACE FUNCTION dex_trade_record(
    d dex_trades, transaction_hash bytea, dex text, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN json_build_object(
    'transactionHash', hex(transaction_hash), 'blockNumber', d.block_number,
    'logIndex', d.log_index, 'dex', dex, 'pairAddress', hex(d.pool_address),
    'maker', hex(d.maker), 'tokenIn', hex(d.token_in), 'tokenOut', hex(d.token_out),
    'amountIn', d.amount_in::text, 'amountOut', d.amount_out::text, 'timestamp', iso(mined_at));

-- An address's transactions: sent, received, and the one that created it, each once. Three index
-- scans in order, which the planner merges when the caller orders by block and index.
CREATE OR REPLACE FUNCTION transactions_of(a bytea) RETURNS SETOF transactions
LANGUAGE sql STABLE AS $$
    SELECT t.* FROM transactions t WHERE t.from_address = a
    UNION ALL
    SELECT t.* FROM transactions t WHERE t.to_address = a AND t.from_address <> a
    UNION ALL
    SELECT t.* FROM transactions t WHERE t.contract_address = a AND t.from_address <> a
$$;

CREATE OR REPLACE FUNCTION token_transfers_of(a bytea) RETURNS SETOF token_transfers
LANGUAGE sql STABLE AS $$
    SELECT x.* FROM token_transfers x WHERE x.from_address = a
    UNION ALL
    SELECT x.* FROM token_transfers x WHERE x.to_address = a AND x.from_address <> a
$$;

-- Where to start reading a list for `skip` entries: the nearest checkpoint on the way, and how many
-- entries to pass from there. No row: start at the end of the list that the order begins with.
CREATE OR REPLACE FUNCTION list_start(l text, k bytea, entries bigint, skip bigint, direction text)
RETURNS TABLE (block_number bigint, position_ integer, batch_index integer, pass bigint)
LANGUAGE sql STABLE AS $$
    (SELECT c.block_number, c.position, c.batch_index, c.ordinal - (entries - 1 - skip)
     FROM list_checkpoints c
     WHERE direction = 'desc' AND c.list = l AND c.key = k AND c.ordinal >= entries - 1 - skip
     ORDER BY c.ordinal ASC LIMIT 1)
    UNION ALL
    (SELECT c.block_number, c.position, c.batch_index, skip - c.ordinal
     FROM list_checkpoints c
     WHERE direction = 'asc' AND c.list = l AND c.key = k AND c.ordinal <= skip
     ORDER BY c.ordinal DESC LIMIT 1)
$$;
