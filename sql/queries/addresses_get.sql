-- The indexed data of one address, with its newest 25 transactions.
-- params: address bytea, state_block bigint
-- literals: none
-- returns: one row: index version, transaction_count (null for one never seen), label, first_seen and
--   last_seen (ISO 8601), recent (JSON text), whose code it runs after `state_block` (bytea, null: its own or
--   none), its authorizations (null: none), balance, balance_block, is_contract, number and hash
--   of the newest block (null where none is indexed), the newest block that stored balances must not be
--   older than to be those of the newest block
-- index: addresses_pkey, transactions_by_from, transactions_by_to, transactions_by_contract,
--   transactions_pkey, contracts_pkey, blocks_pkey, blocks_untraced,
--   authorizations_in_effect, list_counts_pkey
SELECT index_version(),
    a.transaction_count,
    (SELECT l.label FROM labels l WHERE l.address = %(address)s),
    (SELECT iso(b.timestamp) FROM blocks b WHERE b.number = a.first_seen),
    (SELECT iso(b.timestamp) FROM blocks b WHERE b.number = a.last_seen),
    (SELECT json_list(string_agg(
        (SELECT transaction_record(t, b)
        FROM transactions t
        JOIN blocks b ON b.number = t.block_number
        WHERE t.ordinal = page.ordinal), ','))
    FROM (
        SELECT ordinal
        FROM (
            (SELECT t.ordinal
            FROM transactions t
            WHERE t.from_address = %(address)s AND t.ordinal >= (SELECT first_kept_ordinal('transactions'))
            ORDER BY t.ordinal DESC
            LIMIT 25)
            UNION ALL
            (SELECT t.ordinal
            FROM transactions t
            WHERE t.to_address = %(address)s AND t.to_address <> t.from_address
                AND t.ordinal >= (SELECT first_kept_ordinal('transactions'))
            ORDER BY t.ordinal DESC
            LIMIT 25)
            UNION ALL
            (SELECT t.ordinal
            FROM transactions t
            WHERE t.contract_address = %(address)s AND t.contract_address <> t.from_address
                AND t.ordinal >= (SELECT first_kept_ordinal('transactions'))
            ORDER BY t.ordinal DESC
            LIMIT 25)
        ) AS matches
        ORDER BY ordinal DESC
        LIMIT 25
    ) AS page),
    delegate_of(%(address)s, last_ordinal_in(%(state_block)s)),
    (SELECT c.count FROM list_counts c
        WHERE c.list = 'authorizations_by_authority' AND c.key = %(address)s),
    a.balance::text,
    a.balance_block,
    EXISTS (SELECT 1 FROM contracts c WHERE c.address = %(address)s),
    head.number,
    head.hash,
    newest_untraced_block()
FROM (SELECT 1) AS always
LEFT JOIN addresses a ON a.address = %(address)s
LEFT JOIN (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS head ON true;
