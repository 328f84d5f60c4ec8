-- Tokens that are to be read, older ones before newer ones, with the block after which to read each: the last one in
-- which it was active, or 64 blocks after its first one, as what grows with time differs there, or where there is a
-- later day, the newest day's first block. Name, symbol and decimals are of that block, too, or of the first block
-- in which it was active on its last day, and 1, 8, 64, 512 … blocks after its first one, and of its last change. So
-- blocks depend on the chain alone. Then what its events say of some parties, to be compared with what it answers: one
-- of its newest transfers, the sender of the newest transaction to it, an address that nobody names, which has nothing,
-- then another party, and the token itself, where fees may go; not where its sum is below zero, as some mint from it; of a BEP721 also owners of its items. A hash of the
-- block chooses.
-- params: limit integer, addresses bytea[] null, passed_over bytea[]
-- literals: limit
-- returns: address, block number, block hash, number and hash of the block of name, symbol and decimals, whether they
--   are still to be read, the block at which the index began if the token is older, or null, whether a contradiction
--   marks it, whether its holders were counted, one who has less than nothing as hex digits or null, and [[holder as hex digits, id of an item or null,
--   balance as text]] or [[null, id of an item, its owner as hex digits]], of a marked token that of the contradiction
--   first, or null
-- index: stale_tokens_by_block, tokens_pkey, log_emitters_pkey, transactions_by_to, transactions_to_self, transactions_pkey,
--   contract_changes_pkey, daily_stats_first_block_key, blocks_pkey, token_transfers_by_token, token_holders_pkey,
--   token_holders_by_balance, item_balances_pkey,
--   token_transfers_by_item, token_items_pkey, contract_creations_by_address, chain_pkey
SELECT k.address, b.number, b.hash, l.number, l.hash, k.read_block IS DISTINCT FROM l.number,
    older.since, k.contradicted IS NOT NULL, k.drawn_holders IS NOT NULL, CASE WHEN older.since IS NULL THEN (
        SELECT encode(h.holder, 'hex')
        FROM token_holders h
        WHERE h.token_address = k.address AND h.balance < 0 AND h.holder <> k.address
        ORDER BY h.balance, h.holder
        LIMIT 1) END,
    drawn.balances
FROM stale_tokens s
JOIN tokens k ON k.address = s.address
CROSS JOIN LATERAL (SELECT greatest(k.block_number, last_active_block(k.address),
    (SELECT b.number FROM blocks b WHERE b.number = k.block_number + 64)) AS block OFFSET 0) AS seen -- computed once
CROSS JOIN LATERAL (SELECT max(s.first_block) AS block FROM daily_stats s WHERE s.first_block > seen.block) AS next_day
JOIN blocks b ON b.number = coalesce(next_day.block, seen.block)
CROSS JOIN LATERAL (SELECT greatest(k.block_number,
    (SELECT max(s.first_block) FROM daily_stats s WHERE s.first_block <= seen.block),
    (SELECT max(k.block_number + (1::bigint << 3 * step)) FROM generate_series(0, 12) AS step
    WHERE k.block_number + (1::bigint << 3 * step) <= seen.block)) AS block) AS due
JOIN blocks l ON l.number = coalesce(next_day.block, greatest(
    (SELECT max(c.block_number) FROM contract_changes c WHERE c.address = k.address),
    coalesce(first_active_block(k.address, due.block), seen.block)))
LEFT JOIN LATERAL (SELECT c.start_block AS since FROM chain c WHERE c.start_block > 0 AND NOT EXISTS (
    SELECT FROM contract_creations n WHERE n.address = k.address)) AS older ON true
LEFT JOIN LATERAL (
    WITH newest AS MATERIALIZED (
        SELECT x.from_address, x.to_address, CASE WHEN has_amounts(k.type) THEN x.token_id END AS item,
            CASE WHEN coalesce(k.item_type, k.type) = 'BEP721' THEN x.token_id END AS owned
        FROM token_transfers x
        WHERE x.token_address = k.address
        ORDER BY x.ordinal DESC
        LIMIT 32
    ), parties AS (
        SELECT p.holder, p.item
        FROM newest x
        CROSS JOIN LATERAL (VALUES (x.from_address, x.item), (x.to_address, x.item)) AS p (holder, item)
        WHERE p.holder <> zero_address()
        GROUP BY p.holder, p.item
        ORDER BY sha256(p.holder || b.hash), p.item
        LIMIT 3
    ), candidates (place, holder, item) AS (
        SELECT 0, decode(k.contradicted ->> 0, 'hex'), (k.contradicted ->> 1)::numeric
        UNION ALL
        SELECT 2, sent.from_address, (SELECT n.item FROM newest n LIMIT 1)
        FROM (SELECT t.from_address FROM transactions t WHERE t.to_address = k.address
            AND t.to_address <> t.from_address ORDER BY t.ordinal DESC LIMIT 1) AS sent
        UNION ALL
        SELECT 3 * row_number() OVER (ORDER BY sha256(p.holder || b.hash), p.item) - 2, p.holder, p.item
        FROM parties p
        UNION ALL
        SELECT 2 * row_number() OVER (ORDER BY sha256(o.owned::text::bytea || b.hash), o.owned) - 1, NULL, o.owned
        FROM (SELECT DISTINCT n.owned FROM newest n WHERE n.owned IS NOT NULL) AS o
        UNION ALL
        SELECT 3, substr(sha256(k.address || b.hash), 1, 20), (SELECT n.item FROM newest n LIMIT 1)
        UNION ALL
        SELECT 5, k.address, (SELECT n.item FROM newest n LIMIT 1)
    )
    SELECT json_agg(json_build_array(encode(d.holder, 'hex'), d.item::text, coalesce(CASE WHEN d.holder IS NULL
        THEN (SELECT encode(i.owner, 'hex') FROM token_items i
            WHERE i.token_address = k.address AND i.first_ordinal = first_transfer_of(k.address, d.item))
        END, coalesce(CASE WHEN d.item IS NULL
        THEN (SELECT h.balance FROM token_holders h WHERE h.holder = d.holder AND h.token_address = k.address)
        ELSE (SELECT i.balance FROM item_balances i
            WHERE i.holder = d.holder AND i.first_ordinal = first_transfer_of(k.address, d.item)) END, 0)::text))
        ORDER BY d.place, d.holder, d.item)
        AS balances
    FROM (
        SELECT min(c.place) AS place, c.holder, c.item
        FROM candidates c
        WHERE CASE WHEN c.holder IS NULL THEN c.item IS NOT NULL
            ELSE c.holder <> zero_address() AND (c.item IS NOT NULL OR NOT has_amounts(k.type)) END
            AND (c.holder = k.address AND EXISTS (SELECT FROM token_holders h WHERE h.holder = c.holder
                AND h.token_address = k.address AND h.balance < 0)) IS NOT TRUE
        GROUP BY c.holder, c.item
        ORDER BY place, c.holder, c.item
        LIMIT CASE WHEN k.contradicted IS NULL THEN 3 ELSE 4 END
            + CASE WHEN coalesce(k.item_type, k.type) = 'BEP721' THEN 2 ELSE 0 END
    ) AS d
) AS drawn ON older.since IS NULL
WHERE k.ended_in IS NULL AND s.address <> ALL (%(passed_over)s::bytea[])
    AND (%(addresses)s::bytea[] IS NULL OR s.address = ANY (%(addresses)s::bytea[]))
ORDER BY s.block_number, s.address
LIMIT %(limit)s;
