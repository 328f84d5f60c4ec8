-- What is indexed about one address; its newest 25 transactions.
-- params: address bytea
-- plan depends on: nothing
-- returns: no row for one never seen; else transaction_count, label, first_seen and last_seen
--   (ISO 8601), recent (JSON text), balance, balance_block, is_contract, head_number, head_hash
-- index: addresses_pkey, transactions_by_from, transactions_by_to, transactions_by_contract,
--   transactions_pkey, contracts_pkey, blocks_pkey
SELECT a.transaction_count,
    (SELECT l.label FROM labels l WHERE l.address = a.address),
    (SELECT iso(b.timestamp) FROM blocks b WHERE b.number = a.first_seen),
    (SELECT iso(b.timestamp) FROM blocks b WHERE b.number = a.last_seen),
    (SELECT coalesce(json_agg((
        SELECT transaction_record(t,
            (SELECT b.timestamp FROM blocks b WHERE b.number = t.block_number))
        FROM transactions t
        WHERE t.ordinal = page.ordinal)), '[]')::text
    FROM (
        SELECT ordinal
        FROM (
            (SELECT t.ordinal
            FROM transactions t
            WHERE t.from_address = %(address)s
            ORDER BY t.ordinal DESC
            LIMIT 25)
            UNION ALL
            (SELECT t.ordinal
            FROM transactions t
            WHERE t.to_address = %(address)s AND t.to_address <> t.from_address
            ORDER BY t.ordinal DESC
            LIMIT 25)
            UNION ALL
            (SELECT t.ordinal
            FROM transactions t
            WHERE t.contract_address = %(address)s AND t.contract_address <> t.from_address
            ORDER BY t.ordinal DESC
            LIMIT 25)
        ) AS places
        ORDER BY ordinal DESC
        LIMIT 25
    ) AS page),
    a.balance::text,
    a.balance_block,
    EXISTS (SELECT 1 FROM contracts c WHERE c.address = a.address),
    head.number,
    head.hash
FROM addresses a
CROSS JOIN (SELECT number, hash FROM blocks ORDER BY number DESC LIMIT 1) AS head
WHERE a.address = %(address)s;
