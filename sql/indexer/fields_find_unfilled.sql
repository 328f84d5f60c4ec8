-- The newest block of a range that has null in one of these columns, or a transaction with null in one of
-- `transaction_columns`. Nulls of a column count from the block that `columns_from` gives it. The search
-- passes over filled blocks one by one.
-- params: block_from bigint, block_to bigint, columns text[], columns_from bigint[],
--   transaction_columns text[]
-- returns: one number, null where nothing is missing
-- index: transactions_pkey, blocks_pkey
WITH ordinals AS MATERIALIZED (
    SELECT first, last FROM transaction_ordinals(%(block_from)s, %(block_to)s)
)
SELECT greatest(
    (SELECT t.block_number
    FROM transactions t
    WHERE cardinality(%(transaction_columns)s::text[]) > 0
        AND t.ordinal BETWEEN (SELECT first FROM ordinals) AND (SELECT last FROM ordinals)
        AND EXISTS (SELECT
            FROM unnest(%(transaction_columns)s::text[]) AS later (name)
            WHERE to_jsonb(t) -> later.name = 'null')
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
