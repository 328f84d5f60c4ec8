-- Compares values of derived tables that are no sums with the rows that are not removed, and with each
-- other.
-- params: span block_range, first_block bigint
-- returns: the kind of error, the number of such rows, one of them
-- index: none
SELECT what, count(*), min(name)
FROM (
    SELECT 'an address was first or last seen, or acted, in another block' AS what,
        hex(coalesce(a.address, c.address)) AS name
    FROM (SELECT address, first_seen, last_seen, last_acted FROM addresses
        WHERE last_seen >= %(first_block)s) a
    FULL JOIN addresses_changes(%(span)s::block_range) c USING (address)
    WHERE a.last_seen IS DISTINCT FROM c.last_seen OR a.first_seen > c.first_seen
        OR (a.first_seen >= %(first_block)s AND a.first_seen <> c.first_seen)
        OR CASE WHEN a.last_acted >= %(first_block)s THEN a.last_acted END IS DISTINCT FROM c.last_acted
    UNION ALL
    SELECT 'a kept address counts other rows', hex(k.address)
    FROM kept_addresses k
    JOIN addresses a ON a.address = k.address
    LEFT JOIN addresses_changes(all_blocks()) c ON c.address = k.address
    WHERE k.complete_from = 0
        AND (a.transaction_count, a.transfer_count, a.trade_count, a.internal_count, a.log_count, a.net_wei) IS DISTINCT
            FROM (c.transaction_count, c.transfer_count, c.trade_count, c.internal_count, c.log_count, c.net_wei)
    UNION ALL
    SELECT 'a token counts other holders', hex(k.address)
    FROM tokens k
    LEFT JOIN (
        SELECT h.token_address, count(*) FILTER (WHERE h.balance > 0) AS holders,
            sum(h.balance) FILTER (WHERE h.balance > 0) AS held
        FROM token_holders h
        GROUP BY h.token_address
    ) AS h ON h.token_address = k.address
    WHERE (k.holder_count, k.held_supply) <> (coalesce(h.holders, 0), coalesce(h.held, 0))
    UNION ALL
    SELECT 'a token counts other items', hex(k.address)
    FROM tokens k
    LEFT JOIN (
        SELECT i.token_address, count(*) AS items FROM token_items i GROUP BY i.token_address
    ) AS i ON i.token_address = k.address
    WHERE k.item_count <> coalesce(i.items, 0)
    UNION ALL
    SELECT 'an item has another owner', hex(i.token_address) || ', first moved by transfer ' || i.first_ordinal
    FROM token_items i
    JOIN tokens k ON k.address = i.token_address
    LEFT JOIN token_items_changes(%(span)s::block_range) c USING (token_address, first_ordinal)
    LEFT JOIN token_transfers x ON x.ordinal = c.last_ordinal
    LEFT JOIN removed_items r USING (first_ordinal)
    WHERE i.owner IS DISTINCT FROM item_owner(coalesce(k.item_type, k.type), coalesce(x.to_address, r.last_recipient))
        AND k.earlier_lives IS NULL AND k.has_holdings
    UNION ALL
    SELECT 'an item counts other owners', hex(i.token_address) || ', first moved by transfer ' || i.first_ordinal
    FROM token_items i
    LEFT JOIN (
        SELECT b.first_ordinal, count(*) AS owners
        FROM item_balances b
        WHERE b.balance > 0
        GROUP BY b.first_ordinal
    ) AS b USING (first_ordinal)
    WHERE i.owner_count <> coalesce(b.owners, 0)
    UNION ALL
    SELECT 'an address counts other items', hex(a.address)
    FROM addresses a
    LEFT JOIN (
        SELECT p.holder, count(*) AS items
        FROM (
            SELECT i.owner AS holder FROM token_items i WHERE i.owner IS NOT NULL
            UNION ALL
            SELECT b.holder FROM item_balances b WHERE b.balance > 0
        ) AS p
        GROUP BY p.holder
    ) AS h ON h.holder = a.address
    WHERE a.item_count IS DISTINCT FROM h.items
    UNION ALL
    SELECT 'a day counts other rows than its blocks have', s.day::text
    FROM daily_stats s
    JOIN LATERAL (
        SELECT sum(c.transaction_count) AS transactions,
            sum(c.failed_transaction_count) AS failed, sum(c.created_contract_count) AS created,
            sum(c.token_transfer_count) AS transfers, sum(c.dex_trade_count) AS trades,
            sum(c.gas_used) AS gas, sum(c.fees_wei) AS fees, sum(c.burnt_wei) AS burnt
        FROM daily_stats_changes(range_of_blocks(s.first_block, s.last_block)) c
    ) AS c ON true
    WHERE s.first_block >= %(first_block)s AND (s.transaction_count, s.failed_transaction_count,
            s.created_contract_count, s.token_transfer_count, s.dex_trade_count, s.gas_used, s.fees_wei,
            s.burnt_wei)
        <> (c.transactions, c.failed, c.created, c.transfers, c.trades, c.gas, c.fees, c.burnt)
) AS wrong
GROUP BY what
ORDER BY what;
