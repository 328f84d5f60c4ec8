-- What is indexed, as a count and a digest for each table: equal wherever the same chain was
-- indexed, whatever happened on the way. Left out is what differs without meaning: numbers given
-- to exchanges and topics, topics of which no log is left, when balances and supplies were read, and balances, which only the node has.
-- params: none
-- returns: table, rows, digest; no row for an empty table
-- index: none
SELECT name, count(*), md5(sum(hashtextextended(line, 0)) || ':' || sum(hashtextextended(line, 1)))
FROM (
    SELECT 'chain' AS name,
        ROW(c.chain_id, c.genesis_hash, c.start_block, c.token_count)::text AS line
    FROM chain c
    UNION ALL
    SELECT 'blocks', b::text FROM blocks b
    UNION ALL
    SELECT 'transactions', t::text FROM transactions t
    UNION ALL
    SELECT 'log_emitters', e::text FROM log_emitters e
    UNION ALL
    SELECT 'codes', o::text FROM codes o
    UNION ALL
    SELECT 'contracts', c::text FROM contracts c
    UNION ALL
    SELECT 'tokens', (to_jsonb(k) - 'supply_block')::text
    FROM tokens k
    UNION ALL
    SELECT 'token_transfers', x::text FROM token_transfers x
    UNION ALL
    SELECT 'token_holders', h::text FROM token_holders h
    UNION ALL
    SELECT 'token_items', i::text FROM token_items i
    UNION ALL
    SELECT 'item_balances', s::text FROM item_balances s
    UNION ALL
    SELECT 'dexes', ROW(d.name, d.trade_count)::text FROM dexes d
    UNION ALL
    SELECT 'pools', ROW(p.address, p.block_number, d.name, p.token0, p.token1, p.trade_count,
        p.volume0, p.volume1)::text
    FROM pools p
    LEFT JOIN dexes d USING (dex_id)
    UNION ALL
    SELECT 'rejected_emitters', r::text FROM rejected_emitters r
    UNION ALL
    SELECT 'dex_trades', ROW(s.ordinal, s.block_number, s.log_index, s.transaction_index, d.name,
        s.pool_address, s.maker, s.token_in, s.token_out, s.amount_in, s.amount_out)::text
    FROM dex_trades s
    LEFT JOIN dexes d USING (dex_id)
    UNION ALL
    SELECT 'pool_candles', c::text FROM pool_candles c
    UNION ALL
    SELECT 'internal_transfers', i::text FROM internal_transfers i
    UNION ALL
    SELECT 'withdrawals', w::text FROM withdrawals w
    UNION ALL
    SELECT 'credits', c::text FROM credits c
    UNION ALL
    SELECT 'user_operations', u::text FROM user_operations u
    UNION ALL
    SELECT 'uncles', u::text FROM uncles u
    UNION ALL
    SELECT 'authorizations', a::text FROM authorizations a
    UNION ALL
    SELECT 'messages_to_l1', m::text FROM messages_to_l1 m
    UNION ALL
    SELECT 'execution_requests', q::text FROM execution_requests q
    UNION ALL
    SELECT 'blobs', o::text FROM blobs o
    UNION ALL
    SELECT 'addresses', (to_jsonb(a) - ARRAY['balance', 'balance_block', 'unwound'])::text
    FROM addresses a
    UNION ALL
    SELECT 'logs', ROW(l.ordinal, l.block_number, l.log_index, l.transaction_index, e.topic0,
        l.address, l.topics, l.data)::text
    FROM logs l
    LEFT JOIN event_topics e USING (topic_id)
    UNION ALL
    SELECT 'event_topics', ROW(e.topic0, e.log_count)::text FROM event_topics e WHERE e.log_count > 0
    UNION ALL
    SELECT 'daily_stats', s::text FROM daily_stats s
    UNION ALL
    SELECT 'list_counts', n::text FROM list_counts n
    UNION ALL
    SELECT 'list_checkpoints', l::text FROM list_checkpoints l
) AS rows
GROUP BY name
ORDER BY name;
