-- Whether transactions before these ran code in their blocks. What failed changed nothing, and what runs no code takes
-- 21000 gas.
-- params: numbers bigint[], transaction_indexes integer[]
-- literals: none
-- returns: rows in order: boolean, false of blocks that are not indexed
-- index: blocks_pkey, transactions_pkey
SELECT CASE WHEN at.number < first_kept_block() THEN at.transaction_index > 0 ELSE EXISTS (
    SELECT
    FROM blocks b
    JOIN transactions t ON t.ordinal >= b.transactions_before
        AND t.ordinal < b.transactions_before + least(b.transaction_count, at.transaction_index)
    WHERE b.number = at.number AND t.status IS NOT FALSE AND t.gas_used <> 21000) END
FROM unnest(%(numbers)s::bigint[], %(transaction_indexes)s::integer[])
    WITH ORDINALITY AS at (number, transaction_index, position)
ORDER BY at.position;
