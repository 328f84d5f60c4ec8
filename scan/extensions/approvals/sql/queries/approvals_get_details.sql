-- What a page of approvals shows beside them: their transaction, their token, what their owner holds of
-- it by events, and its newest transfer since by who may use each, of the owner's newest transfers.
-- params: owner bytea, tokens bytea[], blocks bigint[], transaction_indexes integer[],
--   log_indexes integer[], users integer[], user_addresses bytea[], head bigint, head_hash bytea, most integer
-- literals: most
-- returns: one row: index version, whether the chain still has the head, oldest block of the transfers
--   that were looked at where there are older ones, or null, JSON array in the order asked of {transactionHash,
--   approvedBy, timestamp, token: {symbol, decimals, type} or null, held, lastUse, lastUseAt}
-- index: token_transfers_by_from, blocks_pkey, transactions_pkey, tokens_pkey, token_holders_pkey
WITH requested AS MATERIALIZED (
    SELECT r.token, r.block_number, r.transaction_index, r.log_index, r.position
    FROM unnest(%(tokens)s::bytea[], %(blocks)s::bigint[], %(transaction_indexes)s::integer[],
        %(log_indexes)s::integer[]) WITH ORDINALITY
        AS r (token, block_number, transaction_index, log_index, position)
), sent AS MATERIALIZED (
    SELECT x.ordinal, x.token_address, x.block_number, x.transaction_index, x.log_index
    FROM token_transfers x
    WHERE x.from_address = %(owner)s
    ORDER BY x.ordinal DESC
    LIMIT %(most)s
), moved AS MATERIALIZED (
    SELECT s.*, t.hash, t.from_address, t.to_address, b.timestamp
    FROM sent s
    JOIN blocks b ON b.number = s.block_number
    JOIN transactions t ON t.ordinal = b.transactions_before + s.transaction_index
    WHERE s.token_address IN (SELECT r.token FROM requested r)
), used AS MATERIALIZED (
    SELECT r.position, max(m.ordinal) AS ordinal
    FROM unnest(%(users)s::integer[], %(user_addresses)s::bytea[]) AS u (position, address)
    JOIN requested r ON r.position = u.position
    JOIN moved m ON m.token_address = r.token AND u.address IN (m.from_address, m.to_address)
        AND (m.block_number, m.log_index) > (r.block_number, r.log_index)
    GROUP BY 1
)
SELECT index_version(),
    EXISTS (SELECT FROM blocks h WHERE h.number = %(head)s AND h.hash = %(head_hash)s),
    (SELECT CASE WHEN count(*) = %(most)s THEN min(s.block_number) END FROM sent s),
    json_list((
        SELECT string_agg(format(
            '{"transactionHash":%%s,"approvedBy":%%s,"timestamp":"%%s","token":%%s,"held":"%%s","lastUse":%%s,"lastUseAt":%%s}',
            json_hex(t.hash), json_hex(t.from_address), iso(b.timestamp),
            CASE WHEN k.address IS NULL THEN 'null' ELSE format(
                '{"symbol":%%s,"decimals":%%s,"type":"%%s"}', json_text(k.symbol),
                    coalesce(k.decimals::text, 'null'), k.type) END,
            coalesce(h.balance, 0), json_hex(m.hash), json_text(iso(m.timestamp))), ',' ORDER BY r.position)
        FROM requested r
        JOIN blocks b ON b.number = r.block_number
        JOIN transactions t ON t.ordinal = b.transactions_before + r.transaction_index
        LEFT JOIN used u ON u.position = r.position
        LEFT JOIN moved m ON m.ordinal = u.ordinal
        LEFT JOIN tokens k ON k.address = r.token
        LEFT JOIN token_holders h ON h.holder = %(owner)s AND h.token_address = r.token));
