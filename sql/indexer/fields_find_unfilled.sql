-- The newest block of a range that lacks one of its later columns, each from a block of its own on, or
-- has a transaction that lacks its later ones. It walks over what is filled: a second for a million
-- transactions.
-- params: block_from bigint, block_to bigint, columns text[], columns_from bigint[]
-- returns: one number, null where nothing lacks
-- index: transactions_pkey, blocks_pkey
WITH ordinals AS MATERIALIZED (
    SELECT first, last FROM transaction_ordinals(%(block_from)s, %(block_to)s)
)
SELECT greatest(
    (SELECT t.block_number
    FROM transactions t
    WHERE (t.type IS NULL OR (t.blob_versioned_hashes IS NOT NULL AND t.blob_gas_price IS NULL))
        AND t.ordinal BETWEEN (SELECT first FROM ordinals) AND (SELECT last FROM ordinals)
    ORDER BY t.ordinal DESC
    LIMIT 1),
    (SELECT b.number
    FROM blocks b
    WHERE b.number BETWEEN %(block_from)s AND %(block_to)s
        AND EXISTS (SELECT
            FROM unnest(%(columns)s::text[], %(columns_from)s::bigint[]) AS later (name, first)
            WHERE b.number >= later.first AND to_jsonb(b) -> later.name = 'null')
    ORDER BY b.number DESC
    LIMIT 1));
