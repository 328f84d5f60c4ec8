-- Base tables: the data of the chain.

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
    base_fee_per_gas numeric(78, 0), -- null before EIP-1559
    internal_transfers_before bigint NOT NULL,
    internal_transfer_count integer NOT NULL,
    withdrawal_count integer,      -- null: it has no list of withdrawals
    traced boolean,                -- whether all its traces were read; null: no transaction ran code
    traced_before bigint NOT NULL, -- blocks before it that were traced
    untraced_before bigint NOT NULL, -- blocks before it that lack traces
    logs_before bigint NOT NULL,   -- of those that are stored
    log_count integer NOT NULL,
    size bigint,                   -- bytes of its RLP; null: its node gives none
    producer_fees numeric NOT NULL DEFAULT 0, -- what its transactions paid that its producer got
    burnt_fees numeric,            -- what they paid of base fees that nobody got; null before EIP-1559
    blob_fees numeric,             -- what they paid for blobs, which nobody gets; null without blobs
    chain_fields text,             -- JSON: fields of the chain's own, by the node's names
    requests_hash bytea,           -- of its requests to the consensus layer; null before EIP-7685
    block_access_list_hash bytea,  -- of the accounts that it touched; null before EIP-7928
    slot_number bigint,            -- of the consensus layer; null before EIP-7843
    blob_gas_used numeric,         -- null before EIP-4844
    excess_blob_gas numeric,       -- blob gas beyond the target, summed up to its parent; null before EIP-4844
    blob_base_fee numeric,         -- the price of blob gas that its transactions paid; null without blobs
    coin_logs boolean NOT NULL DEFAULT false, -- whether moving coin emits logs (EIP-7708)
    unproven text,                 -- the parts that no hash proves, and why; null: all is proven
    unproven_before bigint NOT NULL DEFAULT 0 -- blocks before it of which some part is not proven
);
-- serves unproven_blocks() in chain_get_status and others: each reason, and its newest block below another
CREATE INDEX IF NOT EXISTS blocks_unproven ON blocks (unproven, number) WHERE unproven IS NOT NULL;
-- serves queries/addresses_get, queries/addresses_list: the newest block after which stored balances
-- may have changed unseen
CREATE INDEX IF NOT EXISTS blocks_untraced ON blocks (number) WHERE traced IS FALSE AND NOT coin_logs;
-- serves contracts/coin_logs_exist, blocks_without_transfers()
CREATE INDEX IF NOT EXISTS blocks_with_coin_logs ON blocks (number) WHERE coin_logs;
-- serves indexer/addresses_restore_last_seen
CREATE INDEX IF NOT EXISTS blocks_by_miner ON blocks (miner, number);
-- serves queries/history_list: blocks whose producer may have earned something
CREATE INDEX IF NOT EXISTS blocks_with_fees ON blocks (miner, number) WHERE transaction_count > 0;

-- Amounts here are as rarely zero as they are round, and numeric takes 5 to 9 bytes for each. Integers
-- from `type` on are kept as the transaction has them: unsigned, big-endian, without leading zeros (zero
-- has no byte), which integer_text() reads: 22.5 bytes a row instead of 35, measured at 1 M rows, and
-- any uint256 fits. There null means that the node gave no such field.
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
    fee numeric NOT NULL,          -- what its sender paid for it in all
    type bytea NOT NULL,           -- EIP-2718's
    nonce bytea,
    gas_limit bytea,
    max_fee_per_gas bytea,
    max_priority_fee_per_gas bytea,
    max_fee_per_blob_gas bytea,
    cumulative_gas_used bytea,
    method bytea,                  -- the first bytes of its input, at most 4; null without input
    blob_versioned_hashes bytea[],
    blob_gas_price bytea,          -- null without blobs
    -- Of rollups, of which most chains have none.
    l1_fee bytea,                  -- part of the fee, for data on L1
    operator_fee bytea,            -- part of the fee, for who runs the chain
    mint bytea,                    -- coin that its sender got by it, also where it failed
    chain_fields text,             -- JSON: fields of the chain's own, by the node's names
    traced boolean                 -- true where its trace was read, though not all of its block
) PARTITION BY RANGE (ordinal);
-- A hash index takes a third of a btree's room; serves queries/transactions_get
CREATE INDEX IF NOT EXISTS transactions_by_hash ON transactions USING hash (hash);
-- serve the lists that sql/lists.toml reads from them, queries/addresses_get,
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
-- serves queries/transactions_list_largest_in_blocks: large values in each run of 16,384 transactions, so that a
-- new entry falls among the newest ones. An index of all values would take the indexer 4 % more
-- processor time; those of 10 coins or more are few, and of a busy chain's day still more than are listed.
CREATE INDEX IF NOT EXISTS transactions_by_value ON transactions ((ordinal >> 14), value, ordinal)
    WHERE status AND value >= 10000000000000000000;

-- serves queries/transactions_get: redemptions of a retryable ticket of Arbitrum
CREATE INDEX IF NOT EXISTS transactions_by_ticket
    ON transactions (substring(chain_fields FROM '"ticketId":"(0x[0-9a-f]{64})"'), ordinal)
    WHERE type = '\x68';

-- Whole blocks, of those that have transactions: these and their receipts as the block's roots prove them,
-- see scan/ethereum/stored_blocks.py. Compressed by zstandard, which PostgreSQL is not to try again.
CREATE TABLE IF NOT EXISTS block_bodies (
    block_number bigint PRIMARY KEY,
    digest bytea NOT NULL,         -- of the decompressed bytes
    body bytea STORAGE EXTERNAL NOT NULL
) PARTITION BY RANGE (block_number);

-- Value that contracts moved inside transactions, and contracts they created, be it without value: from
-- traces, and in blocks without traces that have logs of coin, value alone, from these.
CREATE TABLE IF NOT EXISTS internal_transfers (
    ordinal bigint PRIMARY KEY,
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    transfer_index integer NOT NULL, -- of its call in the transaction's trace; known by logs alone, counted from 1
    type smallint NOT NULL,        -- see internal_transfer_type()
    from_address bytea NOT NULL,
    to_address bytea NOT NULL,
    value numeric(78, 0) NOT NULL
) PARTITION BY RANGE (ordinal);
-- serve the lists that sql/lists.toml reads from them,
-- indexer/addresses_restore_last_seen
CREATE INDEX IF NOT EXISTS internal_transfers_by_from ON internal_transfers (from_address, ordinal);
CREATE INDEX IF NOT EXISTS internal_transfers_by_to ON internal_transfers (to_address, ordinal)
    WHERE to_address <> from_address;
CREATE INDEX IF NOT EXISTS internal_transfers_to_self ON internal_transfers (to_address, ordinal)
    WHERE to_address IS NOT DISTINCT FROM from_address;

-- The first and the last ordinal that rows of a block may have in a table of few rows, such as credits,
-- where ordinals have gaps: a block has at most 2^20 of them.
CREATE OR REPLACE FUNCTION first_ordinal_in(block bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN least(block, 8796093022206) << 20;

CREATE OR REPLACE FUNCTION last_ordinal_in(block bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN first_ordinal_in(block) + 1048575;

-- Contracts by their creations: by transactions and, of blocks that are traced, by contracts. An address
-- whose contract destroyed itself may have several.
CREATE TABLE IF NOT EXISTS contract_creations (
    ordinal bigint PRIMARY KEY,    -- first_ordinal_in() its block, and its place among the block's
    block_number bigint NOT NULL,
    transaction_index integer NOT NULL,
    address bytea NOT NULL,
    creator bytea NOT NULL,        -- who sent the transaction
    factory bytea                  -- the contract that created it; null: the transaction did
);
-- serves queries/contracts_get_creation, queries/addresses_get
CREATE INDEX IF NOT EXISTS contract_creations_by_address ON contract_creations (address, ordinal);
-- serve the lists that sql/lists.toml reads from them
CREATE INDEX IF NOT EXISTS contract_creations_by_creator ON contract_creations (creator, ordinal);
CREATE INDEX IF NOT EXISTS contract_creations_by_factory ON contract_creations (factory, ordinal)
    WHERE factory IS NOT NULL;

-- Withdrawals of validators (EIP-4895) and builders (EIP-7732), which change balances without a transaction.
CREATE TABLE IF NOT EXISTS withdrawals (
    block_number bigint NOT NULL,
    withdrawal_index bigint NOT NULL, -- along the chain
    validator_index bigint NOT NULL,  -- or 2^40 and a builder's index
    address bytea NOT NULL,
    amount_wei numeric(78, 0) NOT NULL,
    unit text,                        -- what it is of, where not of the coin, which it does not change
    PRIMARY KEY (block_number, withdrawal_index)
);
-- serves queries/history_list, indexer/addresses_restore_last_seen
CREATE INDEX IF NOT EXISTS withdrawals_of_address
    ON withdrawals (address, block_number, withdrawal_index);

-- Coin that an address got in a block besides transactions, internal transfers, withdrawals and what the
-- producer earned in fees: on rollups what a deposit minted, and fees that go to a vault instead of being
-- burnt; rewards of proof of work. And what an address lost without a transfer: what contracts burnt that
-- destroyed themselves in their own favour.
CREATE TABLE IF NOT EXISTS credits (
    ordinal bigint PRIMARY KEY,    -- first_ordinal_in() its block, and its place among the block's
    block_number bigint NOT NULL,
    transaction_index integer,     -- null: for all transactions of the block together
    type smallint NOT NULL,        -- 0: minted by a deposit; 1: fees of a vault; 2: a block's reward; 3: an uncle's;
                                   -- 4: burnt, which is taken off
    address bytea NOT NULL,
    amount_wei numeric NOT NULL
);
-- serves queries/history_list, indexer/addresses_restore_last_seen
CREATE INDEX IF NOT EXISTS credits_of_address ON credits (address, type, ordinal);

-- Blocks that others of their chain replaced and that a later block includes, of chains with proof of work.
CREATE TABLE IF NOT EXISTS uncles (
    ordinal bigint PRIMARY KEY,    -- that of its miner's reward in credits
    block_number bigint NOT NULL,  -- of the block that includes it
    uncle_number bigint NOT NULL,
    hash bytea NOT NULL,
    miner bytea NOT NULL,
    timestamp_s bigint NOT NULL    -- in Unix seconds
);

-- Contracts with the blocks in which they emitted a log, or were created by another contract: an address
-- is seen in these blocks too.
CREATE TABLE IF NOT EXISTS log_emitters (
    address bytea NOT NULL,
    block_number bigint NOT NULL,
    PRIMARY KEY (address, block_number)
);
-- serves the unwinding of a reorganisation; rows come in block order, so a BRIN is enough
CREATE INDEX IF NOT EXISTS log_emitters_by_block ON log_emitters USING brin (block_number);

-- Blocks that forks took back, written in the transaction that does so, to tell a reader whose position is
-- in one what to drop. A block that came back since still has its row, so readers of this table look into
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
    code bytea NOT NULL,
    delegation text NOT NULL DEFAULT '', -- how it passes calls on, see delegation_text(); '': it cannot
    is_proxy boolean NOT NULL GENERATED ALWAYS AS (delegation <> '' AND delegation NOT LIKE 'other%') STORED
);

-- Calls that contracts passed on whole by DELEGATECALL, by traces: for each function the first block of those
-- after which the same contract ran it. Of several calls of a block the last counts.
CREATE TABLE IF NOT EXISTS delegated_calls (
    address bytea NOT NULL,        -- of the contract that was called
    selector bytea NOT NULL,       -- the first four bytes of the input; or else an event of the contract names here the
                                   -- beacon to whose implementation it passes calls on (empty), or an implementation (0)
    block_number bigint NOT NULL,
    implementation bytea,          -- null: it was not passed on, or to several
    PRIMARY KEY (address, selector, block_number)
);
-- serves delegated_calls_of()
CREATE INDEX IF NOT EXISTS delegated_calls_by_address ON delegated_calls (address, block_number);
-- serves indexer/beacons_mark_changed
CREATE INDEX IF NOT EXISTS delegated_calls_by_beacon ON delegated_calls (implementation, address, block_number)
    WHERE selector = '';
CREATE INDEX IF NOT EXISTS delegated_calls_named ON delegated_calls (block_number, address) WHERE selector = '\x00';
-- serves indexer/blocks_unwind
CREATE INDEX IF NOT EXISTS delegated_calls_by_block ON delegated_calls USING brin (block_number);

-- The code of an address since a block; the newest row is what stands there now. A contract that is created
-- anew at the address of a destroyed one has a row also where its code is the same.
CREATE TABLE IF NOT EXISTS contracts (
    address bytea NOT NULL,
    block_number bigint NOT NULL,
    code_hash bytea,               -- null: its contract destroyed itself
    PRIMARY KEY (address, block_number)
);
-- serves contracts of the same code, the oldest first, and the clean-up of codes
CREATE INDEX IF NOT EXISTS contracts_by_code_hash ON contracts (code_hash, block_number, address);
CREATE INDEX IF NOT EXISTS contracts_by_block ON contracts USING brin (block_number);

-- What a text looks like: equal for texts that can be taken for each other, in any letter case. That is the
-- skeleton of UTS 39 after NFKD, without what is invisible and without marks (Mn and Me of Unicode 14): letters of
-- other scripts that look like one of ASCII (confusables.txt of Unicode 15) are this one, I and 1 are l, 0 is o, rn is m.
CREATE OR REPLACE FUNCTION skeleton(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    IF value !~ '^[!-~]*$' THEN
        value := regexp_replace(translate(
            normalize(translate(value, U&'\03F2\03F9\017F', 'ccf'), NFKD), -- of which NFKD would make others
            U&'ƧϨᒿꙄꛯꝚƷȜЗӠⳌꝪꞫ\+0118CA\+016F3B\+01D206Ꮞ\+0118AFƼ\+0118BBбᏮⳒ\+0118D5\+0104D2\+0118C6\+01D212Ȣȣ৪੪\0B03\+01031A'
            '\+01E8CB৭੧୨൭ⳊꝮ\+0118AC\+0118CC\+0118D6ɑΑαАаᎪᗅ⍺ꓮ\+0102A0\+016F40ƄΒВЬᏏᏴᑲᖯᗷꓐꞴ\+010282\+0102A1\+010301СсᏟᴄⲤⲥꓚꮯ'
            '\+0102A2\+010302\+010415\+01043D\+01051C\+0118E9\+0118F2\+01F74CԁᎠᏧᑯᗞᗪꓒꓓΕЕеҽᎬ\212E⋿ⴹꓰꬲ\+010286\+0118A6'
            '\+0118AEϜքᖴẝꓝꞘꞙꬵ\+010287\+0102A5\+010525\+0118A2\+0118C2\+01D213ƍɡԌցᏀᏳᶃꓖΗНһհᎻᏂᕼⲎꓧ\+0102CFͿϳЈјᎫᒍꓙꞲΚКᏦᛕⲔꓗ'
            '\+010518ıƖǀɩɪΙιІіӀӏ\05C0\05D5\05DF\0627\0661\06F1\07CAᎥᏞᒪᛁ∣⍳⏽ⲒⳐⵏꓡꓲꙇꭵ\+01028A\+010309\+010320\+01041B\+010526'
            '\+0118A3\+0118B2\+0118C3\+016F16\+016F28\+01D22A\+01E8C7ΜϺМᎷᗰᛖⲘꓟ\+0102B0\+010311ΝոռⲚꓠ\+010513ΟοσОоՕօ\05E1'
            '\0647\0665\06BE\06C1\06D5\06F5\07C0०০੦૦ଠ୦௦\0C02౦\0C82೦\0D02ഠ൦\0D82๐໐ဝ၀ჿዐᴏᴑⲞⲟⵔ〇ꓳꬽ\+010292\+0102AB\+010404'
            '\+01042C\+0104C2\+0104EA\+010516\+0114D0\+0118B5\+0118C8\+0118D7\+0118E0ΡρРрᏢᑭ⍴Ⲣⲣꓑ\+010295ԛգզⵕƦгᎡᏒᖇᴦⲅꓣꭇꭈꮁ'
            '\+0104B4\+016F35\+01D216ƽЅѕՏᏕᏚꓢꜱꮪ\+010296\+010420\+010448\+0118C1\+016F3AΤТᎢ⊤⟙Ⲧꓔ\+010297\+0102B1\+010315'
            '\+0118BC\+016F0A\+01F768ʋυՍսሀᑌᴜ∪⋃ꓴꞟꭎꭒ\+0104CE\+0104F6\+0118B8\+0118D8\+016F42νѴѵ\05D8\0667\06F7Ꮩᐯᴠ∨⋁ⴸꓦꛟꮩ'
            '\+01051D\+011706\+0118A0\+0118C0\+016F08\+01D20DɯѡԜԝաᎳᏔᴡꓪꮃ\+01170A\+01170E\+01170F\+0118E6\+0118EF×ΧХхᕁᕽ᙭'
            '\166Eᚷ╳⤫⤬⨯ⲬⵝꓫꞳ\+010290\+0102B4\+010317\+010322\+010527\+0118ECɣʏΥγУуҮүყᎩᎽᶌỿⲨꓬꭚ\+0102B2\+0118A4\+0118DC'
            '\+016F43ΖᏃᴢꓜꮓ\+0102F5\+0118A9\+0118C4\+0118E5',
            '2222223333333333445566667778888888999999999aaaaaaaaaaabbbbbbbbbbbbbbccccccccccccccccddddddddeeeeeeeeeeeeefff'
            'fffffffffffgggggggghhhhhhhhhhjjjjjjjjkkkkkkkllllllllllllllllllllllllllllllllllllllllllllmmmmmmmmmmnnnnnnoooo'
            'oooooooooooooooooooooooooooooooooooooooooooooooooooopppppppppppqqqqrrrrrrrrrrrrrrssssssssssssssttttttttttttt'
            'uuuuuuuuuuuuuuuuuuvvvvvvvvvvvvvvvvvvvvvwwwwwwwwwwwwwwwxxxxxxxxxxxxxxxxxxxxxxxyyyyyyyyyyyyyyyyyyyyzzzzzzzzz'),
            '[\s\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202F\u205F-\u206F'
            '\u2800\u3000\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\U00016FE4\U0001BCA0-\U0001BCA3\U0001D159'
            '\U0001D173-\U0001D17A\U000E0000-\U000E0FFF'
            '\u0300-\u036F\u0483-\u0489\u0591-\u05BD\u05BF\u05C1-\u05C2\u05C4-\u05C5\u05C7\u0610-\u061A\u064B-\u065F'
            '\u0670\u06D6-\u06DC\u06DF-\u06E4\u06E7-\u06E8\u06EA-\u06ED\u0711\u0730-\u074A\u07A6-\u07B0\u07EB-\u07F3'
            '\u07FD\u0816-\u0819\u081B-\u0823\u0825-\u0827\u0829-\u082D\u0859-\u085B\u0898-\u089F\u08CA-\u0902'
            '\u093A-\u093C\u0941-\u094D\u0951-\u0957\u0962-\u0963\u0981\u09BC\u09C1-\u09CD\u09E2-\u09E3\u09FE-\u0A02'
            '\u0A3C-\u0A51\u0A70-\u0A71\u0A75\u0A81-\u0A82\u0ABC\u0AC1-\u0ACD\u0AE2-\u0AE3\u0AFA-\u0B01\u0B3C'
            '\u0B3F-\u0B56\u0B62-\u0B63\u0B82\u0BC0-\u0BCD\u0C00-\u0C04\u0C3C\u0C3E-\u0C56\u0C62-\u0C63\u0C81\u0CBC'
            '\u0CBF-\u0CCD\u0CE2-\u0CE3\u0D00-\u0D01\u0D3B-\u0D3C\u0D41-\u0D4D\u0D62-\u0D63\u0D81\u0DCA-\u0DD6\u0E31'
            '\u0E34-\u0E3A\u0E47-\u0E4E\u0EB1\u0EB4-\u0EBC\u0EC8-\u0ECD\u0F18-\u0F19\u0F35\u0F37\u0F39\u0F71-\u0F84'
            '\u0F86-\u0F87\u0F8D-\u0FBC\u0FC6\u102D-\u103E\u1058-\u1059\u105E-\u1060\u1071-\u1074\u1082-\u108D\u109D'
            '\u135D-\u135F\u1712-\u1714\u1732-\u1733\u1752-\u1753\u1772-\u1773\u17B4-\u17D3\u17DD\u180B-\u180F'
            '\u1885-\u1886\u18A9\u1920-\u193B\u1A17-\u1A1B\u1A56-\u1A7F\u1AB0-\u1B03\u1B34-\u1B42\u1B6B-\u1B73'
            '\u1B80-\u1B81\u1BA2-\u1BAD\u1BE6-\u1BF1\u1C2C-\u1C37\u1CD0-\u1CD2\u1CD4-\u1CE8\u1CED\u1CF4\u1CF8-\u1CF9'
            '\u1DC0-\u1DFF\u20D0-\u20F0\u2CEF-\u2CF1\u2D7F\u2DE0-\u2DFF\u302A-\u302D\u3099-\u309A\uA66F-\uA672'
            '\uA674-\uA67D\uA69E-\uA69F\uA6F0-\uA6F1\uA802\uA806\uA80B\uA825-\uA826\uA82C\uA8C4-\uA8C5\uA8E0-\uA8F1'
            '\uA8FF\uA926-\uA92D\uA947-\uA951\uA980-\uA982\uA9B3-\uA9BD\uA9E5\uAA29-\uAA36\uAA43\uAA4C\uAA7C\uAAB0'
            '\uAAB2-\uAAB4\uAAB7-\uAAB8\uAABE-\uAABF\uAAC1\uAAEC-\uAAED\uAAF6\uABE5-\uABE8\uABED\uFB1E\uFE00-\uFE0F'
            '\uFE20-\uFE2F\U000101FD\U000102E0\U00010376-\U0001037A\U00010A01-\U00010A0F\U00010A38-\U00010A3F'
            '\U00010AE5-\U00010AE6\U00010D24-\U00010D27\U00010EAB-\U00010EAC\U00010F46-\U00010F50'
            '\U00010F82-\U00010F85\U00011001\U00011038-\U00011046\U00011070\U00011073-\U00011074\U0001107F-\U00011081'
            '\U000110B3-\U000110BA\U000110C2\U00011100-\U00011102\U00011127-\U00011134\U00011173\U00011180-\U00011181'
            '\U000111B6-\U000111BE\U000111C9-\U000111CC\U000111CF\U0001122F-\U00011237\U0001123E\U000112DF-\U000112EA'
            '\U00011300-\U00011301\U0001133B-\U0001133C\U00011340\U00011366-\U00011374\U00011438-\U00011446\U0001145E'
            '\U000114B3-\U000114C3\U000115B2-\U000115C0\U000115DC-\U000115DD\U00011633-\U00011640'
            '\U000116AB-\U000116B7\U0001171D-\U0001172B\U0001182F-\U0001183A\U0001193B-\U0001193E\U00011943'
            '\U000119D4-\U000119E0\U00011A01-\U00011A0A\U00011A33-\U00011A38\U00011A3B-\U00011A3E\U00011A47'
            '\U00011A51-\U00011A5B\U00011A8A-\U00011A99\U00011C30-\U00011C3F\U00011C92-\U00011CB6'
            '\U00011D31-\U00011D45\U00011D47\U00011D90-\U00011D97\U00011EF3-\U00011EF4\U00016AF0-\U00016AF4'
            '\U00016B30-\U00016B36\U00016F4F\U00016F8F-\U00016F92\U00016FE4\U0001BC9D-\U0001BC9E\U0001CF00-\U0001CF46'
            '\U0001D167-\U0001D169\U0001D17B-\U0001D182\U0001D185-\U0001D18B\U0001D1AA-\U0001D1AD'
            '\U0001D242-\U0001D244\U0001DA00-\U0001DA36\U0001DA3B-\U0001DA6C\U0001DA75\U0001DA84\U0001DA9B-\U0001DAAF'
            '\U0001E000-\U0001E02A\U0001E130-\U0001E136\U0001E2AE\U0001E2EC-\U0001E2EF\U0001E8D0-\U0001E8D6'
            '\U0001E944-\U0001E94A\U000E0100-\U000E01EF]', '', 'g');
    END IF;
    RETURN replace(translate(lower(value), 'i1|0', 'lllo'), 'rn', 'm');
END
$$;

CREATE TABLE IF NOT EXISTS tokens (
    address bytea PRIMARY KEY,
    block_number bigint NOT NULL,  -- where it was first seen
    log_index integer NOT NULL DEFAULT 0, -- of its first event there: earlier ones do not count
    type text NOT NULL CHECK (type IN ('BEP20', 'BEP721', 'BEP1155', 'BEP6909')),
    name text NOT NULL,
    symbol text NOT NULL,
    name_since bigint,             -- the block since which they look as they do; null: that of its creation, as far as
    symbol_since bigint,           -- it is known; -1: another was read since block_number, and this is not found
    dated boolean,                 -- whether these were found; null: they are to be
    decimals smallint,             -- null: it says more than 255
    total_supply numeric(78, 0) NOT NULL,
    read_block bigint,             -- that name, symbol and decimals are of; null: to be read again
    supply_block bigint,           -- that total_supply is of, see indexer/tokens_list_stale; null: see stale_tokens
    supply_missing boolean NOT NULL DEFAULT false, -- totalSupply() returned none: total_supply is 0
    inconsistent_since bigint,     -- the block after which a balance was not the sum of its events, or at which
                                    -- the index began, if it is older; null: all were, as far as compared
    contradicted jsonb,            -- [holder as hex digits, or null for the owner; id of an item or null]; null: none is
    asked_holders integer,         -- of a contradicted one whose balance was read, and those of them who
    drawn_holders integer,         -- had any; null: none was asked yet
    is_reported boolean NOT NULL DEFAULT false, -- whatever its events say, its balances are the node's, as of a
                                    -- development node, whose state changes without any
    held_supply numeric NOT NULL DEFAULT 0, -- what holders hold together, by events
    has_holdings boolean NOT NULL DEFAULT true, -- false: its contract has no function of a token, so that nobody
                                    -- holds what its events say, and no list or count of tokens has it
    item_type text CHECK (item_type IN ('BEP721', 'BEP1155', 'BEP6909')), -- of a BEP20 that has items, or of a
                                   -- BEP721 whose Transfers with three topics have the recipient in data
    wraps_since bigint,            -- the block from which on its Deposit and Withdrawal mint and burn, as
                                   -- WETH's do; null: they do not
    ended_in bigint,               -- the block in which its contract or delegation ended, if none began since:
                                   -- then it has no name and no holders
    earlier_lives jsonb,           -- see token_lives(); null: none, as of nearly all
    holder_count bigint NOT NULL DEFAULT 0,
    transfer_count bigint NOT NULL DEFAULT 0,
    item_transfer_count bigint NOT NULL DEFAULT 0, -- of these with an id: all of a BEP721, but of ranges too large
    item_count bigint NOT NULL DEFAULT 0 -- ids ever moved: 0 of a BEP20
) WITH (fillfactor = 60);
-- What names are sorted by: the beginning, in any case of ASCII, without the signs before its first letter or digit;
-- names of signs alone are last.
CREATE OR REPLACE FUNCTION sorted_as(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT
RETURN left(coalesce(nullif(lower(ltrim(value COLLATE "C", E' !"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~')), ''),
    chr(1114111)), 32);

-- Counters and supply_block change with nearly each block. An index of them, but one that summarizes, would make
-- each change write an entry in all of these indexes: lists by counters read token_ranks.
-- serve queries/tokens_list_by_name and tokens_list_by_symbol, where rows before a page are read from their index alone
CREATE INDEX IF NOT EXISTS tokens_by_sorted_symbol ON tokens (sorted_as(symbol), address)
    INCLUDE (symbol) WHERE ended_in IS NULL AND has_holdings;
CREATE INDEX IF NOT EXISTS tokens_by_sorted_name ON tokens (sorted_as(name), address)
    INCLUDE (name) WHERE ended_in IS NULL AND has_holdings;
-- serve queries/search_list_by_text, by prefix
CREATE INDEX IF NOT EXISTS tokens_by_symbol ON tokens (lower(symbol) text_pattern_ops);
CREATE INDEX IF NOT EXISTS tokens_by_name ON tokens (lower(name) text_pattern_ops);
-- The block since which a token is used under a text, by tokens.symbol_since and the block of its first event.
CREATE OR REPLACE FUNCTION used_since(since bigint, first_event bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN since = -1 THEN 9223372036854775807 ELSE greatest(since, first_event) END;
-- serve namesake_of(), queries/search_list_by_text
CREATE INDEX IF NOT EXISTS tokens_by_skeleton
    ON tokens (skeleton(symbol), used_since(symbol_since, block_number), log_index, address) WHERE ended_in IS NULL;
CREATE INDEX IF NOT EXISTS tokens_by_skeleton_of_name
    ON tokens (skeleton(name), used_since(name_since, block_number), log_index, address) WHERE ended_in IS NULL;
-- serves indexer/tokens_list_undated
CREATE INDEX IF NOT EXISTS tokens_undated ON tokens (block_number, address)
    WHERE dated IS NULL AND read_block IS NOT NULL AND ended_in IS NULL;
-- serves indexer/tokens_mark_seen, indexer/blocks_unwind
CREATE INDEX IF NOT EXISTS tokens_by_newest_supply ON tokens USING brin (supply_block)
    WITH (pages_per_range = 4, autosummarize = on);
-- serves is_of_present_life(), present_transfers(), indexer/tokens_unwind
CREATE INDEX IF NOT EXISTS tokens_with_lives ON tokens (address) WHERE earlier_lives IS NOT NULL OR NOT has_holdings;
-- serves indexer/tokens_mark_seen, indexer/blocks_unwind
CREATE INDEX IF NOT EXISTS tokens_by_block ON tokens (block_number);
-- serves indexer/blocks_unwind: tokens read in blocks that are taken back
CREATE INDEX IF NOT EXISTS tokens_by_read_block ON tokens (read_block);
CREATE INDEX IF NOT EXISTS tokens_by_wraps_since ON tokens (wraps_since) WHERE wraps_since IS NOT NULL;
CREATE INDEX IF NOT EXISTS tokens_by_inconsistent_since ON tokens (inconsistent_since)
    WHERE inconsistent_since IS NOT NULL;
-- serves reported_tokens()
CREATE INDEX IF NOT EXISTS tokens_reported ON tokens (address) WHERE is_reported;

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
) PARTITION BY RANGE (ordinal);
-- serve the lists that sql/lists.toml reads from them,
-- indexer/addresses_restore_last_seen
CREATE INDEX IF NOT EXISTS token_transfers_by_from ON token_transfers (from_address, ordinal);
CREATE INDEX IF NOT EXISTS token_transfers_by_to ON token_transfers (to_address, ordinal)
    WHERE to_address <> from_address;
CREATE INDEX IF NOT EXISTS token_transfers_to_self ON token_transfers (to_address, ordinal)
    WHERE to_address IS NOT DISTINCT FROM from_address;
-- serve the lists that sql/lists.toml reads from them, indexer/tokens_list_stale
CREATE INDEX IF NOT EXISTS token_transfers_by_token ON token_transfers (token_address, ordinal);
-- serves queries/token_items_get, queries/token_transfers_list_by_item, indexer/token_items_derive, indexer/item_balances_derive
CREATE INDEX IF NOT EXISTS token_transfers_by_item
    ON token_transfers (token_address, token_id, ordinal) WHERE token_id IS NOT NULL;

-- The ordinal of the first transfer of a transaction or a later one of its block, whose transfers have ordinals from
-- `first` to before `past`.
CREATE OR REPLACE FUNCTION first_transfer_of_transaction(first bigint, past bigint, index integer) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    middle bigint;
BEGIN
    WHILE first < past LOOP
        middle := (first + past) / 2;
        IF (SELECT x.transaction_index < index FROM token_transfers x WHERE x.ordinal = middle) THEN
            first := middle + 1;
        ELSE
            past := middle;
        END IF;
    END LOOP;
    RETURN first;
END
$$;

-- Blocks in which a token's code or its implementation may have changed after its first event: those of
-- events of proxies and initialisers, and of its creation anew.
CREATE TABLE IF NOT EXISTS contract_changes (
    address bytea NOT NULL,
    block_number bigint NOT NULL,
    decimals_before smallint,      -- the token's before that block; null: it had none
    is_read boolean NOT NULL DEFAULT false, -- whether decimals_before is read
    -- serves decimals_at(), indexer/tokens_list_stale
    PRIMARY KEY (address, block_number)
);
-- serves indexer/contract_changes_list_unread
CREATE INDEX IF NOT EXISTS contract_changes_unread ON contract_changes (block_number, address)
    WHERE NOT is_read;
CREATE INDEX IF NOT EXISTS contract_changes_by_block ON contract_changes USING brin (block_number);

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
    trade_count bigint NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS pools_by_block ON pools USING brin (block_number);

-- Contracts that emitted a Swap, Deposit or Withdrawal but are no pool, or no token, or as tokens events of
-- another type, by the blocks after which they were tried; and tokens that were read because of a change, or were
-- to be read in a block that had too much to read and were not (unread).
CREATE TABLE IF NOT EXISTS rejected_emitters (
    address bytea NOT NULL,
    claim text NOT NULL CHECK (claim IN ('pool', 'token', 'type', 'change', 'unread')),
    block_number bigint NOT NULL,
    PRIMARY KEY (address, claim, block_number)
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
) PARTITION BY RANGE (ordinal);
-- serve the lists that sql/lists.toml reads from them, queries/pools_list,
-- queries/pools_get, queries/pool_candles_list_by_block
CREATE INDEX IF NOT EXISTS dex_trades_by_maker ON dex_trades (maker, ordinal);
CREATE INDEX IF NOT EXISTS dex_trades_by_dex ON dex_trades (dex_id, ordinal);
CREATE INDEX IF NOT EXISTS dex_trades_by_pool ON dex_trades (pool_address, ordinal);

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
) PARTITION BY RANGE (ordinal);
-- serve the lists that sql/lists.toml reads from them, indexer/lists_insert_checkpoints
-- By its third column an address and a first topic together pass over other entries in the index.
CREATE INDEX IF NOT EXISTS logs_by_address ON logs (address, ordinal, topic_id);
CREATE INDEX IF NOT EXISTS logs_by_topic ON logs (topic_id, ordinal);
