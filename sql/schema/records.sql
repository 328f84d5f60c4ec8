-- Records as JSON: one shape of each, used by lists, details and queries alike.

-- The function that a transaction called; null where it created a contract, or gave less than 4 bytes.
CREATE OR REPLACE FUNCTION method_id(t transactions) RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN CASE WHEN length(t.method) = 4 AND t.to_address IS NOT NULL THEN t.method END;

-- Whether a transaction has any field that only chains of other forms have.
CREATE OR REPLACE FUNCTION has_own_fields(t transactions) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN num_nonnulls(t.l1_fee, t.operator_fee, t.mint, t.chain_fields) > 0;

-- Which fields of a block's record, and of its transactions' records, nothing proves, by the reasons in
-- blocks.unproven: the one place that tells. A reason that names a type of transactions is about those
-- alone; one that stands nowhere here is about all that the header proves.
CREATE OR REPLACE FUNCTION fields_without_proof(
    reasons text, t transactions, OUT of_block text[], OUT of_transaction text[])
LANGUAGE sql STABLE AS $$
    WITH names AS (
        SELECT ARRAY['gasPrice', 'gasUsed', 'status', 'contractAddress', 'cumulativeGasUsed', 'fee'] AS received,
            ARRAY['hash', 'fromAddress', 'toAddress', 'value', 'gasPrice', 'gasUsed', 'status',
                'transactionIndex', 'contractAddress', 'nonce', 'gasLimit', 'type', 'maxFeePerGas',
                'maxPriorityFeePerGas', 'maxFeePerBlobGas', 'blobVersionedHashes', 'cumulativeGasUsed',
                'methodId', 'fee'] AS sent,
            ARRAY['blockNumber', 'timestamp', 'blockHash'] AS placed,
            ARRAY['burntFees', 'blobFees', 'blobBaseFee'] AS fees,
            ARRAY['txCount', 'size'] AS body,
            ARRAY['number', 'hash', 'timestamp', 'miner', 'gasUsed', 'gasLimit', 'parentHash',
                'baseFeePerGas', 'blobGasUsed', 'excessBlobGas'] AS header)
    SELECT array_agg(DISTINCT block_field ORDER BY block_field) FILTER (WHERE block_field IS NOT NULL),
        array_agg(DISTINCT own_field ORDER BY own_field) FILTER (WHERE own_field IS NOT NULL)
    FROM names n
    CROSS JOIN regexp_split_to_table(reasons, '; ') AS r (reason)
    CROSS JOIN LATERAL (SELECT
        substring(reason FROM ' of type ([0-9]{1,9})$')::bigint AS of_type,
        CASE WHEN length(t.type) > 0 THEN get_byte(t.type, 0) ELSE 0 END AS own_type) AS y
    CROSS JOIN LATERAL (SELECT CASE
        WHEN reason ^@ 'header ' THEN n.header || n.body || n.fees
        WHEN reason ^@ 'senders of ' OR reason ^@ 'hashes of ' OR reason ^@ 'statuses'
            OR reason ^@ 'fields of ' OR reason ^@ 'receipts without ' OR reason ^@ 'no transaction shows '
            OR reason ^@ 'status and price of ' OR reason ~ '^(nonce|value|to|input) of ' THEN '{}'
        WHEN reason ^@ 'receipts and ' OR reason ^@ 'prices of blobs'
            THEN n.fees
        WHEN reason ^@ 'uncles' THEN ARRAY['size', 'miningReward']
        WHEN reason ^@ 'parentHash' THEN ARRAY['parentHash']
        ELSE n.body || n.fees END AS block_fields,
        CASE
        WHEN of_type <> own_type THEN '{}'
        WHEN reason ^@ 'header ' THEN n.sent || n.placed
        WHEN reason ^@ 'senders of ' THEN ARRAY['fromAddress', 'contractAddress']
        WHEN reason ^@ 'hashes of transactions without ' THEN ARRAY['hash', 'fromAddress', 'contractAddress']
        WHEN reason ^@ 'nonce of ' THEN ARRAY['nonce', 'contractAddress']
        WHEN reason ^@ 'value of ' THEN ARRAY['value']
        WHEN reason ^@ 'to of ' THEN ARRAY['toAddress']
        WHEN reason ^@ 'input of ' THEN ARRAY['methodId']
        WHEN reason ^@ 'receipts and ' THEN n.received
        WHEN reason ^@ 'statuses' THEN CASE WHEN integer_text(t.gas_limit)::numeric = t.gas_used
            THEN ARRAY['status', 'contractAddress'] ELSE '{}' END
        WHEN reason ^@ 'fields of ' OR reason ^@ 'receipts without ' OR reason ^@ 'no transaction shows '
            THEN ARRAY['fee']
        WHEN reason ^@ 'status and price of ' THEN ARRAY['status', 'gasPrice', 'fee']
        WHEN reason ^@ 'prices of blobs' THEN CASE WHEN t.blob_gas_price IS NULL THEN '{}' ELSE ARRAY['fee'] END
        WHEN reason ^@ 'uncles' OR reason ^@ 'parentHash' THEN '{}'
        WHEN reason ^@ 'a state sync' AND NOT (t.gas_used = 0 AND t.gas_limit = '' AND t.type = '') THEN '{}'
        ELSE n.sent END AS own_fields) AS f
    LEFT JOIN LATERAL unnest(f.block_fields, f.own_fields) AS g (block_field, own_field) ON true
$$;

-- Whether a transaction has fields of its chain's own that its hash and receiptsRoot do not cover. The hash
-- of a deposit's receipt covers its nonce where it has a version.
CREATE OR REPLACE FUNCTION has_unproven_chain_fields(t transactions) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN t.chain_fields IS NOT NULL AND t.chain_fields::jsonb - ARRAY['typeName', 'sourceHash', 'isSystemTx',
    'depositReceiptVersion', 'feeCurrency', 'queueIndex', 'ethValue', 'ethTxValue',
    CASE WHEN t.chain_fields ~ '"depositReceiptVersion"' THEN 'depositNonce' END] <> '{}';

-- The names of a block's fields that nothing proves, as JSON. Fields of its chain's own are the node's, but
-- for those that its transactions or its header prove. Blocks of Avalanche have more than transactions.
CREATE OR REPLACE FUNCTION unproven_of_block(b blocks) RETURNS text LANGUAGE sql STABLE
RETURN CASE WHEN b.unproven IS NULL AND b.chain_fields IS NULL THEN '[]' ELSE to_json(
    coalesce((fields_without_proof(b.unproven, NULL)).of_block, '{}')
    || CASE WHEN b.chain_fields ^@ '{"extDataHash"' THEN ARRAY['size'] ELSE '{}' END
    || CASE WHEN b.chain_fields::jsonb - ARRAY['l1Origin', 'basefeeSharingPctg', 'proposalId', 'extDataHash',
            'extDataGasUsed', 'blockGasCost', 'timestampMilliseconds', 'minDelayExcess', 'signer', 'step',
            'signature', 'auraStep', 'auraSeal'] <> '{}'
        THEN ARRAY['chainFields'] ELSE '{}' END)::text END;

-- The names of a transaction's fields that nothing proves, as JSON: by its block's reasons, and by its
-- chain's form. A deposit's hash covers no nonce and no price; fees for L1 and operators are the node's.
CREATE OR REPLACE FUNCTION unproven_of_form(t transactions) RETURNS text[] LANGUAGE sql IMMUTABLE
RETURN CASE WHEN t.type = '\x7e' THEN ARRAY['nonce', 'gasPrice'] ELSE '{}' END
    || CASE WHEN num_nonnulls(t.l1_fee, t.operator_fee) > 0 THEN ARRAY['fee', 'feeParts'] ELSE '{}' END
    || CASE WHEN has_unproven_chain_fields(t) THEN ARRAY['chainFields'] ELSE '{}' END;

CREATE OR REPLACE FUNCTION unproven_by_reasons(reasons text, t transactions) RETURNS text
LANGUAGE sql STABLE
RETURN to_json(ARRAY(
    SELECT DISTINCT f.name
    FROM unnest((fields_without_proof(reasons, t)).of_transaction || unproven_of_form(t)) AS f (name)
    ORDER BY 1))::text;

-- It has no subquery, so that the planner puts its expression into lists' statements.
CREATE OR REPLACE FUNCTION unproven_of_transaction(t transactions, b blocks) RETURNS text
LANGUAGE sql STABLE
RETURN CASE WHEN b.unproven IS NOT NULL THEN unproven_by_reasons(b.unproven, t)
    WHEN has_own_fields(t) THEN to_json(unproven_of_form(t))::text ELSE '[]' END;

-- Whether nothing tells if a transaction succeeded: receipts before Byzantium have no status, it ran code, used
-- all its gas, and its trace was not read. `status` is true then, since no receipt says 0. It is not
-- inlined: check `b.unproven` before it is called.
CREATE OR REPLACE FUNCTION has_unknown_status(t transactions, b blocks) RETURNS boolean LANGUAGE sql STABLE
RETURN b.unproven ~ '(^|; )statuses' AND b.traced IS FALSE AND t.traced IS NULL AND t.status
    AND integer_text(t.gas_limit)::numeric = t.gas_used
    AND (t.to_address IS NULL OR EXISTS (SELECT FROM contracts c WHERE c.address = t.to_address));

-- Whether a block has no transfer inside a transaction but those that its internal transfers have: its logs say
-- it (EIP-7708), or it has no transaction. Of a transfer that a trace leaves out, no row can tell.
CREATE OR REPLACE FUNCTION has_proven_traces(b blocks) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN b.unproven IS NULL AND (b.coin_logs OR b.transaction_count = 0);

-- The mean seconds from one of the newest 100 blocks to the next; null where they tell none. Blocks may share
-- a second, so it is measured between blocks that are the first of theirs. The time of block 0 may be any.
CREATE OR REPLACE FUNCTION block_interval_s() RETURNS numeric LANGUAGE sql STABLE
RETURN (
    SELECT extract(epoch FROM max(n.timestamp) - min(n.timestamp))
        / nullif(max(n.number) - min(n.number), 0)
    FROM (
        SELECT r.number, r.timestamp, lag(r.timestamp) OVER (ORDER BY r.number) AS before,
            row_number() OVER (ORDER BY r.number DESC) AS place
        FROM (SELECT b.number, b.timestamp FROM blocks b ORDER BY b.number DESC LIMIT 101) AS r
    ) AS n
    WHERE n.place <= 100 AND n.number > 0 AND n.before IS DISTINCT FROM n.timestamp);

-- The parts of a transaction's fee, and where its chain has them the coin minted for its sender and the
-- chain's own fields.
CREATE OR REPLACE FUNCTION transaction_details(t transactions) RETURNS text LANGUAGE sql IMMUTABLE
RETURN (
    SELECT format('"feeParts":{"execution":"%s","blob":%s,"l1":%s,"operator":%s}',
        t.fee - coalesce(p.blob, 0) - coalesce(p.l1, 0) - coalesce(p.operator, 0),
        coalesce('"' || p.blob || '"', 'null'), coalesce('"' || p.l1 || '"', 'null'),
        coalesce('"' || p.operator || '"', 'null'))
        || CASE WHEN t.mint IS NULL THEN '' ELSE ',"mint":' || json_integer(t.mint) END
        || coalesce(',"chainFields":' || t.chain_fields, '')
    FROM (SELECT 131072 * cardinality(t.blob_versioned_hashes)
            * integer_text(t.blob_gas_price)::numeric AS blob,
        integer_text(t.l1_fee)::numeric AS l1,
        integer_text(t.operator_fee)::numeric AS operator) AS p);

-- The record of a transaction in lists. It has the transaction's details where its chain has a form of its
-- own; elsewhere only the record of a single one does. It is text, as a cast to JSON would parse it, which
-- takes a fifth of its time.
CREATE OR REPLACE FUNCTION transaction_record(t transactions, b blocks) RETURNS text
LANGUAGE sql STABLE
RETURN format(
    '{"hash":"%s","blockNumber":%s,"fromAddress":"%s","toAddress":%s,"value":"%s","gasPrice":"%s",'
    '"gasUsed":"%s","status":%s,"timestamp":"%s","transactionIndex":%s,"contractAddress":%s,'
    '"blockHash":"%s","nonce":%s,"gasLimit":%s,"type":%s,"maxFeePerGas":%s,'
    '"maxPriorityFeePerGas":%s,"maxFeePerBlobGas":%s,"blobVersionedHashes":%s,'
    '"cumulativeGasUsed":%s,"methodId":%s,"fee":"%s"%s,"unproven":%s}',
    hex(t.hash), t.block_number, hex(t.from_address), json_hex(t.to_address), t.value, t.gas_price,
    t.gas_used, t.status::text, iso(b.timestamp), t.transaction_index,
    json_hex(t.contract_address), hex(b.hash), coalesce(integer_text(t.nonce), 'null'),
    json_integer(t.gas_limit), coalesce(integer_text(t.type), 'null'),
    json_integer(t.max_fee_per_gas), json_integer(t.max_priority_fee_per_gas),
    json_integer(t.max_fee_per_blob_gas), coalesce(json_hashes(t.blob_versioned_hashes), 'null'),
    json_integer(t.cumulative_gas_used), json_hex(method_id(t)), t.fee,
    CASE WHEN has_own_fields(t) THEN ',' || transaction_details(t) ELSE '' END
        || CASE WHEN b.unproven IS NOT NULL AND has_unknown_status(t, b) THEN ',"statusKnown":false' ELSE '' END,
    unproven_of_transaction(t, b));

-- A token's decimals as of a block: those before its next change, if any, or its present ones.
CREATE OR REPLACE FUNCTION decimals_at(k tokens, block bigint) RETURNS smallint
LANGUAGE sql STABLE
RETURN coalesce((SELECT c.decimals_before
    FROM contract_changes c
    WHERE c.address = k.address AND c.block_number > block AND c.is_read
    ORDER BY c.block_number
    LIMIT 1), k.decimals);

-- The last block in which a contract emitted a log, was called by a transaction or may have changed; null: none.
CREATE OR REPLACE FUNCTION last_active_block(contract bytea) RETURNS bigint LANGUAGE sql STABLE
RETURN greatest(
    (SELECT max(e.block_number) FROM log_emitters e WHERE e.address = contract),
    (SELECT t.block_number FROM transactions t WHERE t.ordinal = greatest(
        (SELECT max(t.ordinal) FROM transactions t WHERE t.to_address = contract AND t.to_address <> t.from_address),
        (SELECT max(t.ordinal) FROM transactions t WHERE t.to_address = contract
            AND t.to_address IS NOT DISTINCT FROM t.from_address))),
    (SELECT max(c.block_number) FROM contract_changes c WHERE c.address = contract));

-- The first block from `since` on in which a contract emitted a log or was called by a transaction; null: none.
CREATE OR REPLACE FUNCTION first_active_block(contract bytea, since bigint) RETURNS bigint LANGUAGE sql STABLE
RETURN least(
    (SELECT min(e.block_number) FROM log_emitters e WHERE e.address = contract AND e.block_number >= since),
    (SELECT t.block_number FROM transactions t WHERE t.ordinal = least(
        (SELECT min(t.ordinal) FROM transactions t WHERE t.to_address = contract AND t.to_address <> t.from_address
            AND t.ordinal >= (SELECT b.transactions_before FROM blocks b WHERE b.number = since)),
        (SELECT min(t.ordinal) FROM transactions t WHERE t.to_address = contract
            AND t.to_address IS NOT DISTINCT FROM t.from_address
            AND t.ordinal >= (SELECT b.transactions_before FROM blocks b WHERE b.number = since)))));

-- A token's supply: that of totalSupply(), or of an NFT without it the number held.
CREATE OR REPLACE FUNCTION token_supply(t tokens) RETURNS numeric LANGUAGE sql IMMUTABLE
RETURN CASE WHEN t.supply_missing THEN t.held_supply ELSE t.total_supply END;

-- A token's holders: by events, or where a balance contradicts these, which anybody makes, those that were drawn.
CREATE OR REPLACE FUNCTION counted_holders(k tokens) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN k.contradicted IS NULL THEN k.holder_count ELSE coalesce(k.drawn_holders, 0) END;

-- When the contract of a token came to be there, or was first seen to be, which may be before its first transfer. The
-- planner inlines it.
CREATE OR REPLACE FUNCTION first_seen_at(token bytea, first_transfer bigint)
RETURNS TABLE (seen_at timestamptz) LANGUAGE sql STABLE AS $$
    SELECT b.timestamp
    FROM blocks b
    WHERE b.number = coalesce((
        SELECT c.block_number
        FROM contracts c
        WHERE c.address = token AND c.block_number <= first_transfer
        ORDER BY c.block_number DESC
        LIMIT 1), first_transfer)
$$;

-- How many paid to call a contract since it is there: the senders of the first 100 transactions to it.
CREATE OR REPLACE FUNCTION callers_of(contract bytea) RETURNS bigint LANGUAGE sql STABLE
RETURN (
    SELECT count(DISTINCT c.from_address)
    FROM (
        SELECT t.from_address
        FROM transactions t
        WHERE t.to_address = contract AND t.to_address <> t.from_address AND t.ordinal >= (
            SELECT b.transactions_before
            FROM blocks b
            WHERE b.number = (SELECT max(c.block_number) FROM contracts c
                WHERE c.address = contract AND c.code_hash IS NOT NULL))
            AND t.block_number >= first_kept_block_of(contract)
        ORDER BY t.ordinal
        LIMIT 100) AS c);

-- The places in the chain, as ordinals of contract_creations, in one of which a token came to have a text. Without a
-- known creation, which a trace may have, it may have been there since ever. `since` as tokens.symbol_since.
CREATE OR REPLACE FUNCTION text_age(k tokens, since bigint) RETURNS int8range LANGUAGE sql STABLE
RETURN (
    SELECT CASE
        WHEN since >= 0
            THEN int8range(first_ordinal_in(since), last_ordinal_in(since), '[]')
        WHEN since IS NULL AND n.ordinal IS NOT NULL AND (k.dated OR k.block_number = n.block_number)
            THEN int8range(n.ordinal, n.ordinal, '[]')
        ELSE int8range(n.ordinal, CASE WHEN since IS NULL THEN last_ordinal_in(k.block_number) END, '[]') END
    FROM (SELECT) AS one
    LEFT JOIN LATERAL (
        SELECT c.ordinal, c.block_number
        FROM contract_creations c
        WHERE c.address = k.address AND c.ordinal <= last_ordinal_in(k.block_number)
        ORDER BY c.ordinal DESC
        LIMIT 1) AS n ON true);

-- Whether a token has a text that another one has, too, as the original: it had the text, and moved with
-- it, before the other.
-- Where the other one had it before, but waited without a transfer until this came, more have to have paid to call this.
CREATE OR REPLACE FUNCTION is_original(k tokens, since bigint, other tokens, other_since bigint) RETURNS boolean
LANGUAGE sql STABLE
RETURN CASE WHEN (used_since(since, k.block_number), k.log_index)
    < (used_since(other_since, other.block_number), other.log_index) THEN (
    SELECT a.own << a.others OR (a.own >> a.others AND callers_of(k.address) > callers_of(other.address))
    FROM (SELECT text_age(k, since) AS own, text_age(other, other_since) AS others OFFSET 0) AS a) ELSE false END;

-- What a token's symbol, by its skeleton, stands for where that is something else: a token in an imported list, else
-- the coin (`address` is null), else the original; or that of those whose name looks the same, if it is written
-- otherwise: who disguises a name has nobody marked who writes it as the oldest does. A token in a list stands for its
-- symbol. Whether events add up says nothing about a name. A pool is no namesake of another, as the tokens of an
-- exchange's pools all have the same symbol. `is_later`: the other came later, but was used before.
CREATE OR REPLACE FUNCTION namesake_of(k tokens)
RETURNS TABLE (address bytea, is_listed boolean, is_later boolean, record json) LANGUAGE sql STABLE AS $$
    SELECT o.address, o.place = 0, o.is_later, format(
        '{"address":%s,"symbol":%s,"name":%s,"holderCount":%s,"firstSeen":%s,"sharedText":"%s","later":%s,"unproven":[%s]}',
        json_hex(n.address), json_text(coalesce(n.symbol, coin_symbol())), json_text(n.name),
        CASE WHEN n.address IS NULL THEN 'null' ELSE counted_holders(n)::text END,
        json_text(iso((SELECT s.seen_at FROM first_seen_at(n.address, n.block_number) s))),
        CASE WHEN o.place = 3 THEN 'name' ELSE 'symbol' END, o.is_later::text,
        CASE WHEN n.address IS NULL THEN '' ELSE '"symbol","name"' END)::json
    FROM (
        SELECT skeleton(k.symbol) AS symbol, skeleton(k.name) AS name OFFSET 0) AS own -- computed once
    CROSS JOIN LATERAL (
        (SELECT l.address, 0 AS place, false AS is_later
        FROM listed_tokens l
        JOIN tokens t ON t.address = l.address AND skeleton(t.symbol) = own.symbol
        WHERE skeleton(l.symbol) = own.symbol AND own.symbol <> ''
        ORDER BY t.holder_count DESC, l.address
        LIMIT 1)
        UNION ALL
        SELECT NULL, 1, false
        WHERE own.symbol = (SELECT skeleton(coin_symbol())) AND own.symbol <> ''
        UNION ALL
        (SELECT t.address, 2, text_age(t.token, (t.token).symbol_since) >> text_age(k, k.symbol_since)
        FROM (
            SELECT used_since(t.symbol_since, t.block_number) AS used_since, t.log_index, t.address, t AS token
            FROM tokens t
            WHERE skeleton(t.symbol) = own.symbol AND own.symbol <> '' AND t.ended_in IS NULL AND t.address <> k.address
            ORDER BY used_since(t.symbol_since, t.block_number), t.log_index, t.address
            LIMIT 8) AS t
        WHERE is_original(t.token, (t.token).symbol_since, k, k.symbol_since)
        ORDER BY t.used_since, t.log_index, t.address
        LIMIT 1)
        UNION ALL
        (SELECT oldest.address, 3, text_age(oldest.token, (oldest.token).name_since) >> text_age(k, k.name_since)
        FROM (
            SELECT t.address, t.token
            FROM (
                SELECT used_since(t.name_since, t.block_number) AS used_since, t.log_index, t.address, t AS token
                FROM tokens t
                WHERE skeleton(t.name) = own.name AND own.name <> '' AND t.ended_in IS NULL AND t.address <> k.address
                ORDER BY used_since(t.name_since, t.block_number), t.log_index, t.address
                LIMIT 8) AS t
            WHERE is_original(t.token, (t.token).name_since, k, k.name_since)
            ORDER BY t.used_since, t.log_index, t.address
            LIMIT 1) AS oldest
        WHERE lower((oldest.token).name) <> lower(k.name))
        ORDER BY place
        LIMIT 1) AS o
    LEFT JOIN tokens n ON n.address = o.address
    WHERE
        -- no EXISTS, for which all of a list would be hashed: 1.4 ms a page
        (SELECT l.address FROM listed_tokens l WHERE l.address = k.address) IS NULL
        AND (NOT EXISTS (SELECT FROM pools p WHERE p.address = o.address)
            OR NOT EXISTS (SELECT FROM pools p WHERE p.address = k.address))
$$;

-- The fields of records about a token's namesake.
CREATE OR REPLACE FUNCTION namesake_fields(namesake json) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN namesake IS NULL THEN '"largerNamesake":null,"namesake":null'
    ELSE '"largerNamesake":' || (namesake -> 'address')::text || ',"namesake":' || namesake::text END;

-- Whether a token's balances are the node's: its events do not add up, it is older than the index, or reported.
CREATE OR REPLACE FUNCTION is_marked(t tokens) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN t.inconsistent_since IS NOT NULL OR t.is_reported;

-- The block since which its events do not add up, or are known; null of one that is reported, unless they contradict it.
CREATE OR REPLACE FUNCTION marked_since(t tokens) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN t.contradicted IS NOT NULL OR NOT t.is_reported THEN t.inconsistent_since END;

-- Reported tokens, of which anybody may have a balance: those with most transfers.
CREATE OR REPLACE FUNCTION reported_tokens() RETURNS SETOF bytea LANGUAGE sql STABLE AS $$
    SELECT k.address
    FROM tokens k
    WHERE k.is_reported AND k.ended_in IS NULL
    ORDER BY k.transfer_count DESC, k.address
    LIMIT 200
$$;

-- A token whose events do not add up, if they name it as no holder of itself, where fees may go.
CREATE OR REPLACE FUNCTION unnamed_holder(token bytea)
RETURNS TABLE (token_address bytea, balance numeric) LANGUAGE sql STABLE AS $$
    SELECT k.address, 0::numeric
    FROM tokens k
    WHERE k.address = token AND is_marked(k) AND NOT EXISTS (
        SELECT FROM token_holders h WHERE h.holder = token AND h.token_address = token)
$$;

-- A balance that was read, or where it was not that by events.
CREATE OR REPLACE FUNCTION read_or(
    token bytea, summed numeric, read_tokens bytea[], read_balances numeric[])
RETURNS numeric LANGUAGE sql IMMUTABLE
RETURN coalesce(read_balances[array_position(read_tokens, token)], summed);

-- What an address holds of tokens: of those that were read what was read, also without an event, of others by events.
CREATE OR REPLACE FUNCTION held_by(address bytea, read_tokens bytea[], read_balances numeric[])
RETURNS TABLE (token_address bytea, balance numeric) LANGUAGE sql STABLE AS $$
    SELECT m.token_address, read_or(m.token_address, m.balance, read_tokens, read_balances)
    FROM (
        SELECT h.token_address, h.balance FROM token_holders h WHERE h.holder = address
        UNION ALL
        SELECT r.token_address, 0
        FROM unnest(read_tokens) AS r (token_address)
        WHERE NOT EXISTS (
            SELECT FROM token_holders h WHERE h.holder = address AND h.token_address = r.token_address)
    ) AS m
    WHERE read_or(m.token_address, m.balance, read_tokens, read_balances) > 0
$$;

-- A field of the records of a marked token, as more of a JSON object; else none.
CREATE OR REPLACE FUNCTION inconsistency_field(t tokens) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN is_marked(t) THEN ',"inconsistentSince":' || coalesce(marked_since(t)::text, 'null') END;

-- The block that a token's supply was read at; null where it is not, or is what is held, since it was not returned.
CREATE OR REPLACE FUNCTION supply_block_of(t tokens) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN NOT t.supply_missing THEN t.supply_block END;

-- That field, if it is one, how many holders were asked for, and that block.
CREATE OR REPLACE FUNCTION inconsistency_fields(t tokens) RETURNS text LANGUAGE sql IMMUTABLE
RETURN coalesce(inconsistency_field(t), '')
    || CASE WHEN t.contradicted IS NULL THEN '' ELSE ',"holdersAsked":' || coalesce(t.asked_holders, 0) END
    || ',"supplyBlock":' || coalesce(supply_block_of(t)::text, 'null');

-- The record of a token. `logo` is that of a token list, if any.
CREATE OR REPLACE FUNCTION token_record(
    t tokens, seen_at timestamptz, is_verified boolean, namesake json, logo bytea)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"address":"%s","name":%s,"symbol":%s,"decimals":%s,"type":"%s","totalSupply":"%s",'
    '"holderCount":%s,"transferCount":%s,"firstSeen":"%s","verified":%s,%s,'
    '"unproven":["name","symbol","decimals","type","totalSupply"]%s%s}',
    hex(t.address), json_text(t.name), json_text(t.symbol), coalesce(t.decimals::text, 'null'), t.type, token_supply(t),
    counted_holders(t), t.transfer_count, iso(seen_at), is_verified::text, namesake_fields(namesake),
    ',"logoUrl":"' || logo_url(logo) || '"', inconsistency_fields(t))::json;

-- The record of a single token. `listed` is its entry in a token list, if any.
CREATE OR REPLACE FUNCTION token_detail_record(
    t tokens, seen_at timestamptz, is_verified boolean, namesake json, listed listed_tokens)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"address":"%s","name":%s,"symbol":%s,"decimals":%s,"type":"%s","totalSupply":"%s",'
    '"holderCount":%s,"transferCount":%s,"firstSeen":"%s","eventsConsistent":%s,"heldSupply":"%s","itemCount":%s,'
    '"readBlock":%s,"verified":%s,%s,'
    '"unproven":["name","symbol","decimals","type","totalSupply"]%s%s%s}',
    hex(t.address), json_text(t.name), json_text(t.symbol), coalesce(t.decimals::text, 'null'), t.type, token_supply(t),
    counted_holders(t), t.transfer_count, iso(seen_at), (t.contradicted IS NULL)::text, t.held_supply,
    CASE WHEN t.type = 'BEP20' AND t.item_type IS NULL OR t.type = 'BEP721' AND t.item_transfer_count < t.transfer_count
        THEN 'null' ELSE t.item_count::text END,
    coalesce(t.read_block::text, 'null'), is_verified::text,
    namesake_fields(namesake), ',"logoUrl":"' || logo_url((listed).logo) || '"',
    ',"listedAs":' || CASE WHEN (listed).address IS NOT NULL THEN json_build_object(
        'list', (listed).list, 'name', (listed).name, 'symbol', (listed).symbol)::text END, inconsistency_fields(t))::json;

CREATE OR REPLACE FUNCTION token_holder_record(holder bytea, balance numeric)
RETURNS json LANGUAGE sql STABLE
RETURN format('{"address":"%s","balance":"%s"}', hex(holder), balance)::json;

CREATE OR REPLACE FUNCTION token_balance_record(t tokens, balance numeric, namesake json)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"tokenAddress":"%s","name":%s,"symbol":%s,"decimals":%s,"type":"%s","balance":"%s",'
    '%s,"unproven":["name","symbol","decimals","type"]%s}',
    hex(t.address), json_text(t.name), json_text(t.symbol), coalesce(t.decimals::text, 'null'), t.type, balance,
    namesake_fields(namesake), inconsistency_field(t))::json;

-- The lives of a token: from which log on it has been of a type, and before which block that ended, null of one
-- that has not. The name and the decimals are those before its end.
CREATE OR REPLACE FUNCTION token_lives(k tokens)
RETURNS TABLE (type text, item_type text, wraps_since bigint, block_number bigint, log_index integer,
    end_block bigint, name text, symbol text, is_present boolean)
LANGUAGE sql STABLE AS $$
    SELECT k.type, k.item_type, k.wraps_since, k.block_number, k.log_index, NULL::bigint, k.name, k.symbol,
        true
    WHERE k.ended_in IS NULL
    UNION ALL
    SELECT l.type, l.item_type, l.wraps_since, l.block_number, l.log_index, (e ->> 'end_block')::bigint,
        l.name, l.symbol, false
    FROM jsonb_array_elements(k.earlier_lives) AS e
    CROSS JOIN jsonb_populate_record(NULL::tokens, e) AS l
$$;

-- The token as it was at an event: nearly all have had one life.
CREATE OR REPLACE FUNCTION token_at(k tokens, block bigint, log integer) RETURNS tokens
LANGUAGE sql STABLE
RETURN coalesce((
    SELECT jsonb_populate_record(k, e)
    FROM jsonb_array_elements(k.earlier_lives) AS e
    WHERE (e ->> 'end_block')::bigint > block
        AND ((e ->> 'block_number')::bigint, (e ->> 'log_index')::integer) <= (block, log)
    LIMIT 1), k);

-- The token of a transfer as it was then. It has no subquery, so that the planner puts its expression into lists'
-- statements: nearly all tokens have had one life.
CREATE OR REPLACE FUNCTION token_of(k tokens, x token_transfers) RETURNS tokens LANGUAGE sql STABLE
RETURN CASE WHEN k.earlier_lives IS NULL THEN k ELSE token_at(k, x.block_number, x.log_index) END;

-- The type of what a token's transfer moved: that of an item, of a BEP20 that has items.
CREATE OR REPLACE FUNCTION moved_type(k tokens, token_id numeric) RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN token_id IS NOT NULL THEN coalesce(k.item_type, k.type) ELSE k.type END;

-- How many transactions called a contract.
CREATE OR REPLACE FUNCTION calls_of(contract bytea) RETURNS bigint LANGUAGE sql STABLE
RETURN coalesce((SELECT a.received_count FROM addresses a WHERE a.address = contract), 0);

-- Why a transfer may be there only to be seen in the list of its sender, who did not send the transaction: it
-- moves nothing, or a BEP20 that imitates another out of an account without code. Null where nothing says so, and
-- of NFTs: who buys one sends the transaction. A token that is called more, and by more, than an older one imitates it
-- only if that is in a list: else who takes a name in advance would have all others suspected.
CREATE OR REPLACE FUNCTION transfer_suspicion(sender bytea, amount numeric, initiator bytea, k tokens)
RETURNS text LANGUAGE sql STABLE
RETURN CASE
    WHEN (sender IN (initiator, '\x0000000000000000000000000000000000000000')) IS NOT FALSE THEN NULL
    WHEN amount = 0 THEN 'zero_amount'
    WHEN k.type <> 'BEP20' OR EXISTS (SELECT FROM contracts c WHERE c.address = sender) THEN NULL
    WHEN EXISTS (SELECT FROM namesake_of(k) n WHERE CASE WHEN n.is_listed THEN true
        WHEN n.address IS NULL THEN calls_of(k.address) <= 100
        ELSE NOT n.is_later AND (callers_of(k.address) <= callers_of(n.address)
            OR calls_of(k.address) <= calls_of(n.address)) END) THEN 'imitation' END;

CREATE OR REPLACE FUNCTION token_transfer_record(
    x token_transfers, t transactions, k tokens, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"transactionHash":"%s","blockNumber":%s,"logIndex":%s,"batchIndex":%s,"tokenAddress":"%s",'
    '"tokenType":"%s","fromAddress":"%s","toAddress":"%s","value":"%s","tokenId":%s,'
    '"timestamp":"%s","tokenSymbol":%s,"tokenDecimals":%s,"initiatedBy":"%s","suspicious":%s,'
    '"unproven":["tokenType","tokenSymbol","tokenDecimals"]}',
    hex(t.hash), x.block_number, x.log_index, coalesce(x.batch_index, 0),
    hex(x.token_address), moved_type(token_of(k, x), x.token_id), hex(x.from_address),
    hex(x.to_address), x.value, coalesce('"' || x.token_id || '"', 'null'), iso(mined_at),
    json_text((token_of(k, x)).symbol),
    coalesce(decimals_at(k, x.block_number)::text, 'null'), hex(t.from_address),
    json_text(transfer_suspicion(nullif(x.from_address, x.to_address), x.value, t.from_address, k)))::json;

-- The key of an item's list of transfers in list_checkpoints.
CREATE OR REPLACE FUNCTION item_key(token bytea, token_id numeric) RETURNS bytea
LANGUAGE sql IMMUTABLE
RETURN token || convert_to(token_id::text, 'UTF8');

CREATE OR REPLACE FUNCTION internal_transfer_type(type smallint)
RETURNS text LANGUAGE sql IMMUTABLE
RETURN (ARRAY['call', 'create', 'create2', 'selfdestruct', 'transfer'])[type + 1];

-- Whether a transfer inside a transaction has a log that receiptsRoot proves (EIP-7708). Traces of such
-- blocks are compared with logs; in others the node says what moved. Without value nothing is logged, nor to
-- oneself.
CREATE OR REPLACE FUNCTION is_proven_transfer(
    b blocks, sender bytea, recipient bytea, value numeric)
RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN b.coin_logs AND b.unproven IS NULL AND value > 0 AND sender <> recipient;

-- The record of an internal transfer. Its source is a log where no trace says its type (EIP-7708).
CREATE OR REPLACE FUNCTION internal_transfer_record(
    i internal_transfers, transaction_hash bytea, b blocks)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"transactionHash":"%s","blockNumber":%s,"transferIndex":%s,"type":"%s","fromAddress":"%s",'
    '"toAddress":"%s","value":"%s","timestamp":"%s","source":"%s","proven":%s}',
    hex(transaction_hash), i.block_number, i.transfer_index, internal_transfer_type(i.type),
    hex(i.from_address), hex(i.to_address), i.value, iso(b.timestamp),
    CASE i.type WHEN 4 THEN 'log' ELSE 'trace' END,
    is_proven_transfer(b, i.from_address, i.to_address, i.value)::text)::json;

CREATE OR REPLACE FUNCTION uncle_record(u uncles, reward numeric) RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"number":%s,"hash":"%s","miner":"%s","timestamp":"%s","reward":%s}',
    u.uncle_number, hex(u.hash), hex(u.miner), iso(to_timestamp(u.timestamp_s)),
    coalesce('"' || reward || '"', 'null'))::json;

-- The builder whose withdrawal it is, where its index has the flag 2^40 of builders (EIP-7732); null for that of
-- a validator.
CREATE OR REPLACE FUNCTION builder_index(validator_index bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN validator_index & (1::bigint << 40) <> 0
    THEN validator_index & ~(1::bigint << 40) END;

CREATE OR REPLACE FUNCTION withdrawal_record(w withdrawals) RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"index":%s,"validatorIndex":%s,"address":"%s","amount":"%s"%s%s}',
    w.withdrawal_index, w.validator_index, hex(w.address), w.amount_wei,
    ',"builderIndex":' || builder_index(w.validator_index), ',"unit":' || to_json(w.unit))::json;

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

-- The address of a pool's contract, which may be the manager of many, and its id there.
CREATE OR REPLACE FUNCTION pool_contract(pool bytea) RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN substr(pool, 1, 20);

CREATE OR REPLACE FUNCTION json_pool_id(pool bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN json_hex(CASE WHEN octet_length(pool) > 20 THEN substr(pool, 21) END);

-- Whether tokens moved into the pool and out of it, in the same transaction, in the amounts of its trades
-- there, as a contract can emit any event. Null where at least half of an amount moved, as with tokens that
-- take a fee of their transfers or are rebased, where a manager settles many pools' trades at once, and where the pool
-- has 200 or more rows in the block, which are too many to read for each record.
CREATE OR REPLACE FUNCTION trade_backing(d dex_trades, b blocks) RETURNS TABLE (is_backed boolean)
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN count(moved_in) < 200 AND count(moved_out) < 200 AND count(traded_in) < 200
        THEN CASE
            WHEN sum(moved_in) FILTER (WHERE is_own AND token_in = d.token_in)
                    >= sum(traded_in) FILTER (WHERE is_own AND token_in = d.token_in)
                AND sum(moved_out) FILTER (WHERE is_own AND token_out = d.token_out)
                    >= sum(traded_out) FILTER (WHERE is_own AND token_out = d.token_out) THEN true
            WHEN sum(moved_in) FILTER (WHERE is_own AND token_in = d.token_in) * 2
                    >= sum(traded_in) FILTER (WHERE is_own AND token_in = d.token_in)
                AND sum(moved_out) FILTER (WHERE is_own AND token_out = d.token_out) * 2
                    >= sum(traded_out) FILTER (WHERE is_own AND token_out = d.token_out) THEN NULL
            WHEN octet_length(d.pool_address) > 20 THEN NULL
            ELSE false END END
    FROM (
        (SELECT x.transaction_index = d.transaction_index, x.token_address, x.value,
            NULL::numeric, NULL::bytea, NULL::numeric, NULL::numeric
        FROM token_transfers x
        WHERE x.to_address = pool_contract(d.pool_address) AND x.to_address <> x.from_address
            AND x.ordinal >= b.token_transfers_before
            AND x.ordinal < b.token_transfers_before + b.token_transfer_count
        LIMIT 200)
        UNION ALL
        (SELECT x.transaction_index = d.transaction_index, NULL, NULL, NULL, x.token_address, x.value,
            NULL
        FROM token_transfers x
        WHERE x.from_address = pool_contract(d.pool_address) AND x.to_address <> x.from_address
            AND x.ordinal >= b.token_transfers_before
            AND x.ordinal < b.token_transfers_before + b.token_transfer_count
        LIMIT 200)
        UNION ALL
        (SELECT o.transaction_index = d.transaction_index, o.token_in, NULL, o.amount_in, o.token_out,
            NULL, o.amount_out
        FROM dex_trades o
        WHERE o.pool_address = d.pool_address
            AND o.ordinal >= b.dex_trades_before
            AND o.ordinal < b.dex_trades_before + b.dex_trade_count
        LIMIT 200)) AS amounts (is_own, token_in, moved_in, traded_in, token_out, moved_out, traded_out)
$$;

-- The record of a trade. Only the address is known of a token that never moved.
CREATE OR REPLACE FUNCTION dex_trade_record(
    d dex_trades, transaction_hash bytea, dex text, mined_at timestamptz, token_in tokens,
    token_out tokens, is_backed boolean)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"transactionHash":"%s","blockNumber":%s,"logIndex":%s,"dex":%s,"pairAddress":"%s","poolId":%s,'
    '"maker":"%s","tokenIn":"%s","tokenOut":"%s","amountIn":"%s","amountOut":"%s",'
    '"timestamp":"%s","tokenInSymbol":%s,"tokenInDecimals":%s,"tokenOutSymbol":%s,'
    '"tokenOutDecimals":%s,"backedByTransfers":%s,"unproven":["dex","tokenIn","tokenOut",'
    '"tokenInSymbol","tokenInDecimals","tokenOutSymbol","tokenOutDecimals"]}',
    hex(transaction_hash), d.block_number, d.log_index, json_text(dex), hex(pool_contract(d.pool_address)),
    json_pool_id(d.pool_address), hex(d.maker), hex(d.token_in), hex(d.token_out), d.amount_in, d.amount_out,
    iso(mined_at), json_text(token_in.symbol), coalesce(decimals_at(token_in, d.block_number)::text, 'null'),
    json_text(token_out.symbol), coalesce(decimals_at(token_out, d.block_number)::text, 'null'),
    coalesce(is_backed::text, 'null'))::json;

-- A log's record without long data, as a contract could have every reader sent megabytes.
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
