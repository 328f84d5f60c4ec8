-- The first transfer of coin to an address from another one: by a transaction, or by a contract within one.
-- params: address bytea
-- literals: none
-- returns: one row: index version, block number, its time (Unix seconds), transaction hash, sender, value; all
--   null where none is indexed; whether internal transfers up to that block,
--   or else to the newest, are known
-- index: transactions_coin_by_to, internal_transfers_by_to, blocks_pkey, transactions_pkey
WITH first AS MATERIALIZED (
    SELECT f.*
    FROM (
        (
            SELECT t.block_number, t.transaction_index, false AS is_internal, t.from_address, t.value
            FROM transactions t
            WHERE coalesce(t.to_address, t.contract_address) = %(address)s
                AND coalesce(t.to_address, t.contract_address) <> t.from_address
                AND t.status AND t.value > 0
            ORDER BY t.ordinal ASC
            LIMIT 1
        )
        UNION ALL
        (
            SELECT i.block_number, i.transaction_index, true, i.from_address, i.value
            FROM internal_transfers i
            WHERE i.to_address = %(address)s AND i.to_address <> i.from_address AND i.value > 0
            ORDER BY i.ordinal ASC
            LIMIT 1
        )
    ) AS f
    ORDER BY f.block_number ASC, f.transaction_index ASC, f.is_internal ASC
    LIMIT 1
)
SELECT index_version(), f.block_number, CASE WHEN f.block_number IS NOT NULL THEN seconds(b.timestamp) END,
    t.hash, f.from_address, f.value::text,
    b.number IS NULL OR knows_transfers(b)
        AND CASE WHEN b.coin_logs THEN blocks_without_transfers() ELSE b.untraced_before END = 0
FROM (SELECT) AS always
LEFT JOIN first f ON true
LEFT JOIN blocks b
    ON b.number = coalesce(f.block_number, (SELECT n.number FROM blocks n ORDER BY n.number DESC LIMIT 1))
LEFT JOIN transactions t
    ON t.ordinal = b.transactions_before + f.transaction_index AND t.block_number = f.block_number;
