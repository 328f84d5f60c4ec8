-- The rows that derived tables should hold, by all blocks: `scan audit` compares and repairs tables by them,
-- and bulk loads them, in DuckDB. A table with further columns has one row here for each of its rows.

-- Counts and ordinals of blocks, of the rows in them and before them.
CREATE OR REPLACE FUNCTION blocks_expected()
RETURNS TABLE (number bigint, transactions_before bigint, token_transfers_before bigint,
    dex_trades_before bigint, internal_transfers_before bigint, logs_before bigint,
    transaction_count bigint, token_transfer_count bigint, dex_trade_count bigint,
    internal_transfer_count bigint, log_count bigint, gas_price_sum numeric, traced_before bigint,
    untraced_before bigint, unproven_before bigint)
LANGUAGE sql STABLE AS $$
    SELECT b.number AS number,
        coalesce(sum(t.entries) OVER before, 0)::bigint AS transactions_before,
        coalesce(sum(x.entries) OVER before, 0)::bigint AS token_transfers_before,
        coalesce(sum(d.entries) OVER before, 0)::bigint AS dex_trades_before,
        coalesce(sum(i.entries) OVER before, 0)::bigint AS internal_transfers_before,
        coalesce(sum(l.entries) OVER before, 0)::bigint AS logs_before,
        coalesce(t.entries, 0) AS transaction_count,
        coalesce(x.entries, 0) AS token_transfer_count,
        coalesce(d.entries, 0) AS dex_trade_count,
        coalesce(i.entries, 0) AS internal_transfer_count,
        coalesce(l.entries, 0) AS log_count,
        coalesce(t.gas_price_sum, 0) AS gas_price_sum,
        count(*) FILTER (WHERE b.traced) OVER before AS traced_before,
        count(*) FILTER (WHERE NOT b.traced) OVER before AS untraced_before,
        count(b.unproven) OVER before AS unproven_before
    FROM blocks b
    LEFT JOIN (
        SELECT block_number, count(*) AS entries, sum(gas_price) AS gas_price_sum
        FROM transactions
        GROUP BY block_number
    ) AS t ON t.block_number = b.number
    LEFT JOIN (
        SELECT block_number, count(*) AS entries FROM token_transfers GROUP BY block_number
    ) AS x ON x.block_number = b.number
    LEFT JOIN (
        SELECT block_number, count(*) AS entries FROM dex_trades GROUP BY block_number
    ) AS d ON d.block_number = b.number
    LEFT JOIN (
        SELECT block_number, count(*) AS entries FROM internal_transfers GROUP BY block_number
    ) AS i ON i.block_number = b.number
    LEFT JOIN (
        SELECT block_number, count(*) AS entries FROM logs GROUP BY block_number
    ) AS l ON l.block_number = b.number
    WINDOW before AS (ORDER BY b.number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
$$;

CREATE OR REPLACE FUNCTION token_holders_expected()
RETURNS TABLE (holder bytea, token_address bytea, balance numeric)
LANGUAGE sql STABLE AS $$
    SELECT h.holder AS holder, h.token_address AS token_address, h.balance AS balance
    FROM token_holders_changes(all_blocks()) h
$$;

-- The ranges of the tokens that are counted by range, by their stored holders. An empty range may stay.
CREATE OR REPLACE FUNCTION token_holder_ranges_expected()
RETURNS TABLE (token_address bytea, balance_range integer, holder_count bigint)
LANGUAGE sql STABLE AS $$
    SELECT e.token_address AS token_address, e.balance_range AS balance_range,
        sum(e.holders) AS holder_count
    FROM (
        SELECT h.token_address, holder_range(h.balance, h.holder) AS balance_range, 1 AS holders
        FROM token_holders h
        WHERE h.balance > 0
            AND h.token_address IN (SELECT r.token_address FROM token_holder_ranges r)
        UNION ALL
        SELECT r.token_address, r.balance_range, 0
        FROM token_holder_ranges r
        WHERE r.holder_count = 0
    ) AS e
    GROUP BY e.token_address, e.balance_range
$$;

CREATE OR REPLACE FUNCTION item_balances_expected()
RETURNS TABLE (holder bytea, token_address bytea, first_ordinal bigint, balance numeric)
LANGUAGE sql STABLE AS $$
    SELECT b.holder AS holder, b.token_address AS token_address, b.first_ordinal AS first_ordinal,
        b.balance AS balance
    FROM item_balances_changes(all_blocks()) b
$$;

CREATE OR REPLACE FUNCTION token_items_expected()
RETURNS TABLE (token_address bytea, token_id numeric, first_ordinal bigint, transfer_count bigint,
    owner bytea, owner_count bigint)
LANGUAGE sql STABLE AS $$
    SELECT i.token_address AS token_address, i.token_id AS token_id,
        i.first_ordinal AS first_ordinal, i.transfer_count AS transfer_count,
        CASE WHEN is_of_present_life(i.token_address, x.block_number, x.log_index)
            THEN item_owner(i.type, x.to_address) END AS owner,
        CASE WHEN has_amounts(i.type) THEN coalesce(o.owners, 0) END AS owner_count
    FROM token_items_changes(all_blocks()) i
    JOIN token_transfers x ON x.ordinal = i.last_ordinal
    LEFT JOIN (
        SELECT b.first_ordinal AS first_ordinal, count(*) AS owners
        FROM item_balances_expected() b
        WHERE b.balance > 0
        GROUP BY b.first_ordinal
    ) AS o ON o.first_ordinal = i.first_ordinal
$$;

CREATE OR REPLACE FUNCTION tokens_expected()
RETURNS TABLE (address bytea, holder_count bigint,
    transfer_count bigint, item_transfer_count bigint, held_supply numeric, item_count bigint)
LANGUAGE sql STABLE AS $$
    SELECT k.address AS address, coalesce(h.holders, 0) AS holder_count,
        coalesce(x.transfer_count, 0) AS transfer_count,
        coalesce(x.item_transfer_count, 0) AS item_transfer_count,
        coalesce(h.held, 0) AS held_supply,
        coalesce(i.items, 0) AS item_count
    FROM tokens k
    LEFT JOIN (
        SELECT e.token_address AS token_address,
            count(*) FILTER (WHERE e.balance > 0) AS holders,
            sum(e.balance) FILTER (WHERE e.balance > 0) AS held
        FROM token_holders_expected() e
        GROUP BY e.token_address
    ) AS h ON h.token_address = k.address
    LEFT JOIN tokens_changes(all_blocks()) x ON x.address = k.address
    LEFT JOIN (
        SELECT e.token_address AS token_address, count(*) AS items
        FROM token_items_expected() e
        GROUP BY e.token_address
    ) AS i ON i.token_address = k.address
$$;

CREATE OR REPLACE FUNCTION token_ranks_expected()
RETURNS TABLE (address bytea, type text, name text, symbol text, holders bigint, transfers bigint)
LANGUAGE sql STABLE AS $$
    SELECT k.address AS address, k.type AS type, k.name AS name, k.symbol AS symbol, counted_holders(k) AS holders,
        CASE WHEN k.contradicted IS NULL THEN k.transfer_count ELSE counted_holders(k) END AS transfers
    FROM tokens k
    WHERE k.ended_in IS NULL AND k.has_holdings
$$;
-- Those of a database of an earlier commit, which had indexes of tokens in its place.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM token_ranks) THEN
        INSERT INTO token_ranks (address, type, name, symbol, holders, transfers)
        SELECT e.address, e.type, e.name, e.symbol, e.holders, e.transfers FROM token_ranks_expected() e;
        INSERT INTO stale_tokens (address, block_number)
        SELECT k.address, k.block_number FROM tokens k WHERE k.supply_block IS NULL
        ON CONFLICT DO NOTHING;
        DROP INDEX IF EXISTS tokens_by_transfers, tokens_by_type, tokens_by_counted_holders, tokens_by_supply_block;
    END IF;
END
$$;

-- Exchanges with their numbers of trades; one without trades has no row.
CREATE OR REPLACE FUNCTION dexes_expected()
RETURNS TABLE (dex_id integer, trade_count bigint)
LANGUAGE sql STABLE AS $$
    SELECT d.dex_id AS dex_id, d.trade_count AS trade_count
    FROM dexes_changes(all_blocks()) d
    JOIN dexes x ON x.dex_id = d.dex_id
$$;

CREATE OR REPLACE FUNCTION event_topics_expected()
RETURNS TABLE (topic_id integer, log_count bigint)
LANGUAGE sql STABLE AS $$
    SELECT e.topic_id AS topic_id, coalesce(c.log_count, 0) AS log_count
    FROM event_topics e
    LEFT JOIN event_topics_changes(all_blocks()) c ON c.topic_id = e.topic_id
$$;

CREATE OR REPLACE FUNCTION pools_expected()
RETURNS TABLE (address bytea, trade_count bigint)
LANGUAGE sql STABLE AS $$
    SELECT p.address AS address, coalesce(d.trade_count, 0) AS trade_count
    FROM pools p
    LEFT JOIN pools_changes(all_blocks()) d ON d.address = p.address
$$;

-- Addresses with their counters, including that of the items an address owns, or has some of.
CREATE OR REPLACE FUNCTION addresses_expected()
RETURNS TABLE (address bytea, first_seen bigint, last_seen bigint, transaction_count bigint,
    sent_count bigint, received_count bigint, transfer_count bigint, transfer_sent_count bigint,
    transfer_received_count bigint, trade_count bigint, internal_count bigint,
    internal_sent_count bigint, internal_received_count bigint, log_count bigint,
    coin_sent_count bigint, coin_received_count bigint, withdrawal_count bigint,
    produced_count bigint, net_wei numeric, last_acted bigint, item_count bigint)
LANGUAGE sql STABLE AS $$
    SELECT c.*, h.items AS item_count
    FROM addresses_changes(all_blocks()) c
    LEFT JOIN (
        SELECT p.holder AS holder, count(*) AS items
        FROM (
            SELECT i.owner AS holder FROM token_items_expected() i WHERE i.owner IS NOT NULL
            UNION ALL
            SELECT b.holder FROM item_balances_expected() b WHERE b.balance > 0
        ) AS p
        GROUP BY p.holder
    ) AS h ON h.holder = c.address
$$;

-- A block belongs to the newest day that it or a block before it has.
CREATE OR REPLACE FUNCTION daily_stats_expected()
RETURNS TABLE (day date, first_block bigint, last_block bigint, transaction_count bigint,
    failed_transaction_count bigint, active_address_count bigint,
    new_address_count bigint, created_contract_count bigint, token_transfer_count bigint,
    dex_trade_count bigint, gas_used numeric, fees_wei numeric, burnt_wei numeric)
LANGUAGE sql STABLE AS $$
    WITH placed AS MATERIALIZED (
        SELECT b.number AS number, max(day_of(b.timestamp)) OVER (ORDER BY b.number) AS day
        FROM blocks b
    ), seen AS MATERIALIZED (
        SELECT p.day AS day, s.address AS address, max(is_acting(s.role)::integer) AS acts
        FROM addresses_seen(all_blocks()) s
        JOIN placed p ON p.number = s.block_number
        GROUP BY p.day, s.address
    ), active AS (
        SELECT s.day AS day, count(*) AS addresses
        FROM seen s
        WHERE s.acts > 0
        GROUP BY s.day
    ), added AS (
        SELECT a.day AS day, count(*) AS addresses
        FROM (
            SELECT s.address AS address, min(s.day) AS day
            FROM seen s
            WHERE s.acts > 0
            GROUP BY s.address
        ) AS a
        GROUP BY a.day
    ), totals AS (
        SELECT p.day AS day, min(c.number) AS first_block, max(c.number) AS last_block,
            sum(c.transaction_count) AS transaction_count,
            sum(c.failed_transaction_count) AS failed_transaction_count,
            sum(c.created_contract_count) AS created_contract_count,
            sum(c.token_transfer_count) AS token_transfer_count,
            sum(c.dex_trade_count) AS dex_trade_count, sum(c.gas_used) AS gas_used,
            sum(c.fees_wei) AS fees_wei, sum(c.burnt_wei) AS burnt_wei
        FROM daily_stats_changes(all_blocks()) c
        JOIN placed p ON p.number = c.number
        GROUP BY p.day
    )
    SELECT t.day AS day, t.first_block AS first_block, t.last_block AS last_block,
        t.transaction_count AS transaction_count,
        t.failed_transaction_count AS failed_transaction_count,
        coalesce(a.addresses, 0) AS active_address_count, coalesce(n.addresses, 0) AS new_address_count,
        t.created_contract_count AS created_contract_count,
        t.token_transfer_count AS token_transfer_count, t.dex_trade_count AS dex_trade_count,
        t.gas_used AS gas_used, t.fees_wei AS fees_wei, t.burnt_wei AS burnt_wei
    FROM totals t
    LEFT JOIN active a ON a.day = t.day
    LEFT JOIN added n ON n.day = t.day
$$;

CREATE OR REPLACE FUNCTION chain_expected()
RETURNS TABLE (only_row boolean, token_count bigint)
LANGUAGE sql STABLE AS $$
    SELECT c.only_row, (SELECT count(*) FROM tokens k WHERE k.ended_in IS NULL AND k.has_holdings)
    FROM chain c
$$;
