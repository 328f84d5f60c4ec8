-- The newest block of a range that lacks its base fee, or has a transaction that lacks its later
-- columns. It walks over what is filled: a second for a million rows.
-- params: block_from bigint, block_to bigint, fees_from bigint
-- returns: one number, null where nothing lacks
-- index: transactions_pkey, blocks_pkey
WITH ordinals AS MATERIALIZED (
    SELECT first, last FROM transaction_ordinals(%(block_from)s, %(block_to)s)
)
SELECT greatest(
    (SELECT t.block_number
    FROM transactions t
    WHERE t.type IS NULL
        AND t.ordinal BETWEEN (SELECT first FROM ordinals) AND (SELECT last FROM ordinals)
    ORDER BY t.ordinal DESC
    LIMIT 1),
    (SELECT b.number
    FROM blocks b
    WHERE b.base_fee_per_gas IS NULL
        AND b.number BETWEEN greatest(%(block_from)s, %(fees_from)s) AND %(block_to)s
    ORDER BY b.number DESC
    LIMIT 1));
