-- Tokens that are to be read, older ones before newer ones, with the block after which to read each: the last one in
-- which it was active, or 64 blocks after its first one, as what grows with time differs there, or where there is a
-- later day, that day's first block. Name, symbol and decimals are of that day's first block, too, or of the first block
-- in which it was active on its last day, and 1, 8, 64, 512 … blocks after its first one, and of its last change. So
-- blocks depend on the chain alone. Then what its events say, to be compared with what it answers.
-- params: limit integer, addresses bytea[] null, passed_over bytea[]
-- literals: limit
-- returns: address, block number, block hash, number and hash of the block of name, symbol and decimals, whether they
--   are still to be read, what holders hold together, whether they held another
--   supply, whether a balance is below zero, whether it wraps coin, the block at which the index began if the token
--   is older, or null, and [[holder as hex digits, id of an item or null, balance as text]] of some parties of the
--   newest transfers, or null
-- index: tokens_by_supply_block, log_emitters_pkey, transactions_by_to, transactions_to_self, transactions_pkey,
--   contract_changes_pkey, daily_stats_first_block_key, blocks_pkey, token_transfers_by_token, token_holders_pkey,
--   token_holders_by_balance, item_balances_pkey,
--   token_transfers_by_item, contract_creations_by_address, chain_pkey
SELECT k.address, b.number, b.hash, l.number, l.hash, k.read_block IS DISTINCT FROM l.number,
    k.held_supply, k.held_supply <> token_supply(k),
    EXISTS (SELECT FROM token_holders h WHERE h.token_address = k.address AND h.balance < 0), k.wraps_since IS NOT NULL,
    (SELECT c.start_block FROM chain c WHERE c.start_block > 0 AND NOT EXISTS (
        SELECT FROM contract_creations n WHERE n.address = k.address)),
    drawn.balances
FROM tokens k
CROSS JOIN LATERAL (SELECT greatest(k.block_number, last_active_block(k.address),
    (SELECT b.number FROM blocks b WHERE b.number = k.block_number + 64)) AS block) AS seen
CROSS JOIN LATERAL (SELECT min(s.first_block) AS block FROM daily_stats s WHERE s.first_block > seen.block) AS next_day
JOIN blocks b ON b.number = coalesce(next_day.block, seen.block)
CROSS JOIN LATERAL (SELECT greatest(k.block_number,
    (SELECT max(s.first_block) FROM daily_stats s WHERE s.first_block <= seen.block),
    (SELECT max(k.block_number + (1::bigint << 3 * step)) FROM generate_series(0, 12) AS step
    WHERE k.block_number + (1::bigint << 3 * step) <= seen.block)) AS block) AS due
JOIN blocks l ON l.number = coalesce(next_day.block, greatest(
    (SELECT max(c.block_number) FROM contract_changes c WHERE c.address = k.address),
    coalesce(first_active_block(k.address, due.block), seen.block)))
LEFT JOIN LATERAL (
    SELECT json_agg(json_build_array(encode(d.holder, 'hex'), d.item::text, coalesce(CASE WHEN d.item IS NULL
        THEN (SELECT h.balance FROM token_holders h WHERE h.holder = d.holder AND h.token_address = k.address)
        ELSE (SELECT i.balance FROM item_balances i
            WHERE i.holder = d.holder AND i.first_ordinal = first_transfer_of(k.address, d.item)) END, 0)::text))
        AS balances
    FROM (
        SELECT p.holder, p.item
        FROM (
            SELECT x.from_address, x.to_address, CASE WHEN has_amounts(k.type) THEN x.token_id END AS item
            FROM token_transfers x
            WHERE x.token_address = k.address AND k.inconsistent_since IS NULL
            ORDER BY x.ordinal DESC
            LIMIT 32
        ) AS x
        CROSS JOIN LATERAL (VALUES (x.from_address, x.item), (x.to_address, x.item)) AS p (holder, item)
        WHERE p.holder <> zero_address()
        GROUP BY p.holder, p.item
        ORDER BY sha256(p.holder || b.hash), p.item
        LIMIT 3
    ) AS d
) AS drawn ON true
WHERE k.supply_block IS NULL AND k.ended_in IS NULL AND k.address <> ALL (%(passed_over)s::bytea[])
    AND (%(addresses)s::bytea[] IS NULL OR k.address = ANY (%(addresses)s::bytea[]))
ORDER BY k.supply_block, k.block_number, k.address
LIMIT %(limit)s;
