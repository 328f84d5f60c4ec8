-- The requests to the consensus layer from which those that a block included follow: its deposits, and the
-- newest requests of each queue up to its end, oldest first.
-- params: number bigint null, hash bytea null, most_deposits integer, most_queued integer
-- literals: none
-- returns: one row: index version, number and requests hash of the block (null: no such block), requests as
--   a JSON array of columns and records
-- index: blocks_pkey, blocks_hash_key, execution_requests_by_type, transactions_pkey
SELECT index_version(), b.number, b.requests_hash, (
    SELECT json_list(string_agg(json_build_object(
        'columns', json_build_object('ordinal', q.ordinal, 'block_number', q.block_number,
            'transaction_index', q.transaction_index, 'log_index', q.log_index, 'type', hex(q.type),
            'address', hex(q.address), 'pubkey', hex(q.pubkey), 'details', hex(q.details)),
        'record', execution_request_record(q, t.hash, s.timestamp))::text, ',' ORDER BY q.ordinal))
    FROM (VALUES ('\x00'::bytea, b.number, %(most_deposits)s), ('\x01', 0, %(most_queued)s),
        ('\x02', 0, %(most_queued)s), ('\x03', 0, %(most_queued)s),
        ('\x04', 0, %(most_queued)s)) AS v (type, first_block, most)
    CROSS JOIN LATERAL (
        SELECT r.* FROM execution_requests r
        -- Types and ordinals are compared as rows, so that no plan looks for a rare type among all requests.
        WHERE (r.type, r.ordinal) >= (v.type, first_ordinal_in(v.first_block))
            AND (r.type, r.ordinal) <= (v.type, last_ordinal_in(b.number))
        ORDER BY r.type DESC, r.ordinal DESC
        LIMIT v.most
    ) AS q
    JOIN blocks s ON s.number = q.block_number
    JOIN transactions t ON t.ordinal = s.transactions_before + q.transaction_index)
FROM (SELECT 1) AS always
LEFT JOIN blocks b ON b.number = coalesce(%(number)s,
    (SELECT h.number FROM blocks h WHERE h.hash = %(hash)s));
