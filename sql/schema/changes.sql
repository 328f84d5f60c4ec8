-- The changes that blocks make to derived tables, each rule once. The indexer adds the changes of new
-- blocks, and takes them away in a reorganisation; the audit reads those of all blocks. So does bulk in
-- DuckDB, which has tables, fees and the like under the same names, and takes a column's name from its
-- first AS.

-- A range of blocks with the ordinals of its rows; where there are none, the last is before the first. They
-- are passed as constants, since the planner takes an unknown range for half a percent of a table.
DO $$
BEGIN
    CREATE TYPE block_range AS (
        first_block bigint, last_block bigint,
        first_transaction bigint, last_transaction bigint,
        first_transfer bigint, last_transfer bigint,
        first_trade bigint, last_trade bigint,
        first_internal bigint, last_internal bigint,
        first_log bigint, last_log bigint);
EXCEPTION WHEN duplicate_object THEN
    NULL;
END
$$;

-- The range of all blocks.
CREATE OR REPLACE FUNCTION all_blocks() RETURNS block_range LANGUAGE sql IMMUTABLE
RETURN (0, 9223372036854775807, 0, 9223372036854775807, 0, 9223372036854775807, 0,
    9223372036854775807, 0, 9223372036854775807, 0, 9223372036854775807)::block_range;

CREATE OR REPLACE FUNCTION zero_address() RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN '\x0000000000000000000000000000000000000000'::bytea;

-- The sum of a counter and a number, for counters that are stored as null, which takes no room, if they are 0.
CREATE OR REPLACE FUNCTION sum_or_null(counter bigint, added bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE
RETURN nullif(coalesce(counter, 0) + coalesce(added, 0), 0);

CREATE OR REPLACE FUNCTION sum_or_null(amount numeric, added numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE
RETURN nullif(coalesce(amount, 0) + coalesce(added, 0), 0);

-- The first ordinal of a table that is kept where lists begin at a block.
CREATE OR REPLACE FUNCTION first_kept_ordinal(long_table text, first_block bigint) RETURNS bigint
LANGUAGE sql STABLE
RETURN coalesce((
    SELECT CASE long_table
        WHEN 'transactions' THEN b.transactions_before
        WHEN 'token_transfers' THEN b.token_transfers_before
        WHEN 'internal_transfers' THEN b.internal_transfers_before
        WHEN 'dex_trades' THEN b.dex_trades_before
        WHEN 'logs' THEN b.logs_before
        WHEN 'block_bodies' THEN b.number
        ELSE first_ordinal_in(b.number) END
    FROM blocks b
    WHERE b.number = first_block), 0);

-- That of the lists of a key, which may be a kept address.
CREATE OR REPLACE FUNCTION first_kept_ordinal(long_table text, key bytea) RETURNS bigint LANGUAGE sql STABLE
RETURN first_kept_ordinal(long_table, first_kept_block_of(key));

CREATE OR REPLACE FUNCTION first_kept_ordinal(long_table text) RETURNS bigint LANGUAGE sql STABLE
RETURN first_kept_ordinal(long_table, (SELECT r.first_block FROM retention r));

-- The range of the blocks from one to another, both of which are indexed with their rows.
CREATE OR REPLACE FUNCTION range_of_blocks(first bigint, last bigint) RETURNS block_range
LANGUAGE sql STABLE
RETURN (SELECT (o.number, n.number, o.transactions_before,
        n.transactions_before + n.transaction_count - 1, o.token_transfers_before,
        n.token_transfers_before + n.token_transfer_count - 1, o.dex_trades_before,
        n.dex_trades_before + n.dex_trade_count - 1, o.internal_transfers_before,
        n.internal_transfers_before + n.internal_transfer_count - 1, o.logs_before,
        n.logs_before + n.log_count - 1)::block_range
    FROM blocks o
    CROSS JOIN blocks n
    WHERE o.number = first AND n.number = last);

-- Every address in the rows of a range of blocks: its role, whether the same row has it as its sender
-- already, and the coin and the fees that it gained or lost.
CREATE OR REPLACE FUNCTION addresses_seen(span block_range)
RETURNS TABLE (address bytea, block_number bigint, role text, is_repeated boolean, coin_wei numeric,
    fee_wei numeric)
LANGUAGE sql STABLE AS $$
    SELECT t.from_address AS address, t.block_number AS block_number, 'transaction_from' AS role,
        false AS is_repeated, CASE WHEN t.status THEN -t.value END AS coin_wei,
        -t.fee AS fee_wei
    FROM transactions t
    WHERE t.ordinal BETWEEN (span).first_transaction AND (span).last_transaction
    UNION ALL
    SELECT t.to_address, t.block_number, 'transaction_to', t.to_address = t.from_address,
        CASE WHEN t.status THEN t.value END, NULL
    FROM transactions t
    WHERE t.ordinal BETWEEN (span).first_transaction AND (span).last_transaction
        AND t.to_address IS NOT NULL
    UNION ALL
    SELECT t.contract_address, t.block_number, 'transaction_contract',
        t.contract_address = t.from_address, CASE WHEN t.status THEN t.value END, NULL
    FROM transactions t
    WHERE t.ordinal BETWEEN (span).first_transaction AND (span).last_transaction
        AND t.contract_address IS NOT NULL
    UNION ALL
    SELECT x.from_address, x.block_number, 'transfer_from', false, NULL, NULL
    FROM token_transfers x
    WHERE x.ordinal BETWEEN (span).first_transfer AND (span).last_transfer
    UNION ALL
    SELECT x.to_address, x.block_number, 'transfer_to', x.to_address = x.from_address, NULL, NULL
    FROM token_transfers x
    WHERE x.ordinal BETWEEN (span).first_transfer AND (span).last_transfer
    UNION ALL
    SELECT d.maker, d.block_number, 'trade_maker', false, NULL, NULL
    FROM dex_trades d
    WHERE d.ordinal BETWEEN (span).first_trade AND (span).last_trade
    UNION ALL
    SELECT i.from_address, i.block_number, 'internal_from', false, -i.value, NULL
    FROM internal_transfers i
    WHERE i.ordinal BETWEEN (span).first_internal AND (span).last_internal
    UNION ALL
    SELECT i.to_address, i.block_number, 'internal_to', i.to_address = i.from_address, i.value, NULL
    FROM internal_transfers i
    WHERE i.ordinal BETWEEN (span).first_internal AND (span).last_internal
    UNION ALL
    SELECT b.miner, b.number, CASE WHEN b.transaction_count > 0 THEN 'producer' ELSE 'idle_producer' END,
        false, NULL, b.producer_fees
    FROM blocks b
    WHERE b.number BETWEEN (span).first_block AND (span).last_block
    UNION ALL
    SELECT w.address, w.block_number,
        CASE WHEN w.unit IS NULL THEN 'withdrawal' ELSE 'token_withdrawal' END, false,
        CASE WHEN w.unit IS NULL THEN w.amount_wei END, NULL
    FROM withdrawals w
    WHERE w.block_number BETWEEN (span).first_block AND (span).last_block
    UNION ALL
    SELECT c.address, c.block_number, 'credit', false,
        CASE WHEN c.type = 4 THEN -c.amount_wei ELSE c.amount_wei END, NULL
    FROM credits c
    WHERE c.ordinal BETWEEN first_ordinal_in((span).first_block)
        AND last_ordinal_in((span).last_block)
    UNION ALL
    SELECT e.address, e.block_number, 'emitter', false, NULL, NULL
    FROM log_emitters e
    WHERE e.block_number BETWEEN (span).first_block AND (span).last_block
    UNION ALL
    SELECT l.address, l.block_number, 'log', false, NULL, NULL
    FROM logs l
    WHERE l.ordinal BETWEEN (span).first_log AND (span).last_log
$$;

-- Whether an address counts as new or active by a role. That of a token's transfer costs nobody more than an
-- event.
CREATE OR REPLACE FUNCTION is_acting(role text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN role IN ('transaction_from', 'transaction_to', 'transaction_contract', 'internal_from', 'internal_to',
    'withdrawal', 'producer');

-- The addresses of a range of blocks, with the changes of their counters.
CREATE OR REPLACE FUNCTION addresses_changes(span block_range)
RETURNS TABLE (address bytea, first_seen bigint, last_seen bigint, transaction_count bigint,
    sent_count bigint, received_count bigint, transfer_count bigint, transfer_sent_count bigint,
    transfer_received_count bigint, trade_count bigint, internal_count bigint,
    internal_sent_count bigint, internal_received_count bigint, log_count bigint,
    coin_sent_count bigint, coin_received_count bigint, withdrawal_count bigint,
    produced_count bigint, net_wei numeric, last_acted bigint)
LANGUAGE sql STABLE AS $$
    SELECT s.address AS address, min(s.block_number) AS first_seen, max(s.block_number) AS last_seen,
        count(*) FILTER (WHERE NOT s.is_repeated
            AND s.role IN ('transaction_from', 'transaction_to', 'transaction_contract'))
            AS transaction_count,
        count(*) FILTER (WHERE s.role = 'transaction_from') AS sent_count,
        count(*) FILTER (WHERE s.role = 'transaction_to') AS received_count,
        count(*) FILTER (WHERE NOT s.is_repeated AND s.role IN ('transfer_from', 'transfer_to'))
            AS transfer_count,
        count(*) FILTER (WHERE s.role = 'transfer_from') AS transfer_sent_count,
        count(*) FILTER (WHERE s.role = 'transfer_to') AS transfer_received_count,
        count(*) FILTER (WHERE s.role = 'trade_maker') AS trade_count,
        count(*) FILTER (WHERE NOT s.is_repeated AND s.role IN ('internal_from', 'internal_to'))
            AS internal_count,
        count(*) FILTER (WHERE s.role = 'internal_from') AS internal_sent_count,
        count(*) FILTER (WHERE s.role = 'internal_to') AS internal_received_count,
        nullif(count(*) FILTER (WHERE s.role = 'log'), 0) AS log_count,
        nullif(count(*) FILTER (WHERE s.role = 'transaction_from' AND s.coin_wei < 0), 0)
            AS coin_sent_count,
        nullif(count(*) FILTER (WHERE NOT s.is_repeated AND s.coin_wei > 0
            AND s.role IN ('transaction_to', 'transaction_contract')), 0) AS coin_received_count,
        nullif(count(*) FILTER (WHERE s.role = 'withdrawal'), 0) AS withdrawal_count,
        nullif(count(*) FILTER (WHERE s.role = 'producer'), 0) AS produced_count,
        nullif(coalesce(sum(s.coin_wei), 0) + coalesce(sum(s.fee_wei), 0), 0) AS net_wei,
        max(s.block_number) FILTER (WHERE is_acting(s.role)) AS last_acted
    FROM addresses_seen(span) s
    GROUP BY s.address
$$;

-- Whether an event is of the present life of a token: not of one whose contract ended, or had another type. Of a
-- contract without a function of a token none is.
CREATE OR REPLACE FUNCTION is_of_present_life(token bytea, at_block bigint, at_log integer) RETURNS boolean
LANGUAGE sql STABLE
RETURN NOT EXISTS (SELECT 1
    FROM tokens k
    WHERE k.address = token AND (k.earlier_lives IS NOT NULL OR NOT k.has_holdings)
        AND (NOT k.has_holdings OR k.ended_in IS NOT NULL OR k.block_number > at_block
            OR (k.block_number = at_block AND k.log_index > at_log)));

-- Whether an event of a block is of the life that a token has after a block, and moves holdings.
CREATE OR REPLACE FUNCTION is_of_life_at(token bytea, in_block bigint, after_block bigint) RETURNS boolean
LANGUAGE sql STABLE
RETURN NOT EXISTS (SELECT
    FROM tokens k
    WHERE k.address = token AND NOT k.has_holdings)
AND NOT EXISTS (SELECT
    FROM tokens k
    CROSS JOIN jsonb_array_elements(k.earlier_lives) AS e
    WHERE k.address = token AND k.earlier_lives IS NOT NULL AND (e ->> 'ended_in')::bigint <= after_block
        AND in_block < (e ->> 'end_block')::bigint);

-- The transfers of a range of blocks that are of the present lives of their tokens.
CREATE OR REPLACE FUNCTION present_transfers(span block_range)
RETURNS TABLE (token_address bytea, token_id numeric, from_address bytea, to_address bytea, value numeric)
LANGUAGE sql STABLE AS $$
    SELECT x.token_address AS token_address, x.token_id AS token_id, x.from_address AS from_address,
        x.to_address AS to_address, x.value AS value
    FROM token_transfers x
    WHERE x.ordinal BETWEEN (span).first_transfer AND (span).last_transfer
        AND NOT EXISTS (SELECT 1
            FROM tokens k
            WHERE k.address = x.token_address AND (k.earlier_lives IS NOT NULL OR NOT k.has_holdings)
                AND (NOT k.has_holdings OR k.ended_in IS NOT NULL OR k.block_number > x.block_number
                    OR (k.block_number = x.block_number AND k.log_index > x.log_index)))
$$;

-- Whether a transfer moves a balance: that of a BEP20's item does not.
CREATE OR REPLACE FUNCTION moves_balance(token bytea, id numeric) RETURNS boolean
LANGUAGE sql STABLE
RETURN id IS NULL OR (SELECT k.type FROM tokens k WHERE k.address = token) <> 'BEP20';

-- The changes of holders' balances by transfers; the zero address holds nothing.
CREATE OR REPLACE FUNCTION token_holders_changes(span block_range)
RETURNS TABLE (holder bytea, token_address bytea, balance numeric)
LANGUAGE sql STABLE AS $$
    SELECT m.holder AS holder, m.token_address AS token_address, sum(m.amount) AS balance
    FROM (
        SELECT x.to_address AS holder, x.token_address AS token_address, x.value AS amount
        FROM present_transfers(span) x
        WHERE moves_balance(x.token_address, x.token_id)
        UNION ALL
        SELECT x.from_address, x.token_address, -x.value
        FROM present_transfers(span) x
        WHERE moves_balance(x.token_address, x.token_id)
    ) AS m
    WHERE m.holder <> zero_address()
    GROUP BY m.holder, m.token_address
    HAVING sum(m.amount) <> 0
$$;

-- Whether ids of a type have balances, where a BEP721's have an owner.
CREATE OR REPLACE FUNCTION has_amounts(type text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN type IN ('BEP1155', 'BEP6909');

-- The changes of balances of items by transfers. An item is looked up by its own keys, as the planner
-- cannot know how many there are.
CREATE OR REPLACE FUNCTION item_balances_changes(span block_range)
RETURNS TABLE (holder bytea, token_address bytea, first_ordinal bigint, balance numeric)
LANGUAGE sql STABLE AS $$
    SELECT b.holder AS holder, b.token_address AS token_address,
        coalesce(removed_first_transfer(b.token_address, b.token_id),
            (SELECT min(o.ordinal) FROM token_transfers o
            WHERE o.token_address = b.token_address AND o.token_id = b.token_id)) AS first_ordinal,
        b.balance AS balance
    FROM (
        SELECT m.holder AS holder, m.token_address AS token_address, m.token_id AS token_id,
            sum(m.amount) AS balance
        FROM (
            SELECT x.to_address AS holder, x.token_address AS token_address,
                x.token_id AS token_id, x.value AS amount
            FROM present_transfers(span) x
            UNION ALL
            SELECT x.from_address, x.token_address, x.token_id, -x.value
            FROM present_transfers(span) x
        ) AS m
        WHERE m.token_id IS NOT NULL AND m.holder <> zero_address()
        GROUP BY m.holder, m.token_address, m.token_id
        HAVING sum(m.amount) <> 0
    ) AS b
    WHERE has_amounts((SELECT coalesce(k.item_type, k.type) FROM tokens k
        WHERE k.address = b.token_address))
$$;

-- The items that transfers moved, and the last of these transfers.
CREATE OR REPLACE FUNCTION token_items_changes(span block_range)
RETURNS TABLE (token_address bytea, token_id numeric, first_ordinal bigint, last_ordinal bigint,
    transfer_count bigint, type text)
LANGUAGE sql STABLE AS $$
    SELECT m.token_address AS token_address, m.token_id AS token_id,
        coalesce(removed_first_transfer(m.token_address, m.token_id),
            (SELECT min(o.ordinal) FROM token_transfers o
            WHERE o.token_address = m.token_address AND o.token_id = m.token_id)) AS first_ordinal,
        m.last_ordinal AS last_ordinal, m.transfer_count AS transfer_count,
        (SELECT coalesce(k.item_type, k.type) FROM tokens k WHERE k.address = m.token_address)
            AS type
    FROM (
        SELECT x.token_address AS token_address, x.token_id AS token_id,
            max(x.ordinal) AS last_ordinal, count(*) AS transfer_count
        FROM token_transfers x
        WHERE x.ordinal BETWEEN (span).first_transfer AND (span).last_transfer
            AND x.token_id IS NOT NULL
        GROUP BY x.token_address, x.token_id
    ) AS m
$$;

-- The owner of a BEP721 item by the recipient of its newest transfer: none when it is burnt, or has amounts.
CREATE OR REPLACE FUNCTION item_owner(type text, to_address bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN NOT has_amounts(type) AND to_address <> zero_address() THEN to_address END;

CREATE OR REPLACE FUNCTION tokens_changes(span block_range)
RETURNS TABLE (address bytea, transfer_count bigint, item_transfer_count bigint)
LANGUAGE sql STABLE AS $$
    SELECT x.token_address AS address, count(*) AS transfer_count, count(x.token_id) AS item_transfer_count
    FROM token_transfers x
    WHERE x.ordinal BETWEEN (span).first_transfer AND (span).last_transfer
    GROUP BY x.token_address
$$;

CREATE OR REPLACE FUNCTION dexes_changes(span block_range)
RETURNS TABLE (dex_id integer, trade_count bigint)
LANGUAGE sql STABLE AS $$
    SELECT d.dex_id AS dex_id, count(*) AS trade_count
    FROM dex_trades d
    WHERE d.ordinal BETWEEN (span).first_trade AND (span).last_trade
    GROUP BY d.dex_id
$$;

CREATE OR REPLACE FUNCTION pools_changes(span block_range)
RETURNS TABLE (address bytea, trade_count bigint)
LANGUAGE sql STABLE AS $$
    SELECT d.pool_address AS address, count(*) AS trade_count
    FROM dex_trades d
    WHERE d.ordinal BETWEEN (span).first_trade AND (span).last_trade
    GROUP BY d.pool_address
$$;

CREATE OR REPLACE FUNCTION event_topics_changes(span block_range)
RETURNS TABLE (topic_id integer, log_count bigint)
LANGUAGE sql STABLE AS $$
    SELECT l.topic_id AS topic_id, count(*) AS log_count
    FROM logs l
    WHERE l.ordinal BETWEEN (span).first_log AND (span).last_log AND l.topic_id IS NOT NULL
    GROUP BY l.topic_id
$$;

-- The day of a moment, in UTC.
CREATE OR REPLACE FUNCTION day_of(value timestamptz) RETURNS date LANGUAGE sql STABLE
RETURN (value AT TIME ZONE 'UTC')::date;

-- The numbers that each block of a range adds to its day, except those of addresses.
CREATE OR REPLACE FUNCTION daily_stats_changes(span block_range)
RETURNS TABLE (number bigint, transaction_count bigint, failed_transaction_count bigint,
    created_contract_count bigint, token_transfer_count bigint, dex_trade_count bigint,
    gas_used numeric, fees_wei numeric, burnt_wei numeric)
LANGUAGE sql STABLE AS $$
    SELECT b.number AS number, b.transaction_count AS transaction_count,
        coalesce(t.failed, 0) AS failed_transaction_count,
        coalesce(t.created, 0) + coalesce(i.created, 0) AS created_contract_count,
        b.token_transfer_count AS token_transfer_count, b.dex_trade_count AS dex_trade_count,
        b.gas_used AS gas_used, coalesce(t.fees, 0) AS fees_wei, coalesce(b.burnt_fees, 0) + coalesce(b.blob_fees, 0) AS burnt_wei
    FROM blocks b
    LEFT JOIN (
        SELECT t.block_number AS block_number, count(*) FILTER (WHERE NOT t.status) AS failed,
            count(*) FILTER (WHERE t.status AND t.contract_address IS NOT NULL) AS created,
            sum(t.fee) AS fees
        FROM transactions t
        WHERE t.ordinal BETWEEN (span).first_transaction AND (span).last_transaction
        GROUP BY t.block_number
    ) AS t ON t.block_number = b.number
    LEFT JOIN (
        SELECT i.block_number AS block_number, count(*) AS created
        FROM internal_transfers i
        WHERE i.ordinal BETWEEN (span).first_internal AND (span).last_internal
            AND internal_transfer_type(i.type) IN ('create', 'create2')
        GROUP BY i.block_number
    ) AS i ON i.block_number = b.number
    WHERE b.number BETWEEN (span).first_block AND (span).last_block
$$;

-- The day of an indexed block in daily_stats.
CREATE OR REPLACE FUNCTION day_of_block(block bigint) RETURNS date LANGUAGE sql STABLE
RETURN (SELECT s.day
    FROM daily_stats s
    WHERE s.first_block <= block
    ORDER BY s.first_block DESC
    LIMIT 1);

-- Whether all internal transfers of a block are known: by traces, by logs of coin, or as no code ran.
CREATE OR REPLACE FUNCTION knows_transfers(b blocks) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN b.traced IS NOT FALSE OR b.coin_logs;

-- Whether all internal transfers of a transaction are known.
CREATE OR REPLACE FUNCTION knows_transfers_of(t transactions, b blocks) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN knows_transfers(b) OR coalesce(t.traced, false);

-- The number of blocks that lack traces; null where some do and none was ever traced, so that nothing is
-- known of what contracts did.
CREATE OR REPLACE FUNCTION untraced_blocks() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN max(b.number) IS NULL THEN 0
        WHEN max(b.untraced_before + (b.traced IS FALSE)::integer) = 0
            OR max(b.traced_before + (b.traced IS TRUE)::integer) > 0
            THEN max(b.untraced_before + (b.traced IS FALSE)::integer)
        END
    FROM blocks b
    WHERE b.number = (SELECT max(newest.number) FROM blocks newest)
$$;

-- The number of blocks whose internal transfers are not known. Logs of coin begin with a fork.
CREATE OR REPLACE FUNCTION blocks_without_transfers() RETURNS bigint LANGUAGE sql STABLE
RETURN coalesce((SELECT b.untraced_before FROM blocks b WHERE b.coin_logs ORDER BY b.number LIMIT 1),
    untraced_blocks());

-- The newest block in which a stored balance may have changed without an indexed row: an address whose
-- balance is stored is not in any later block, except inside transactions whose transfers are not known.
CREATE OR REPLACE FUNCTION newest_untraced_block() RETURNS bigint LANGUAGE sql STABLE
RETURN coalesce((SELECT max(b.number) FROM blocks b WHERE b.traced IS FALSE AND NOT b.coin_logs), -1);
