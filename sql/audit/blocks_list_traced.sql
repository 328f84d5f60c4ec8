-- Tells which blocks have their internal transfers.
-- params: block_from bigint, block_to bigint
-- returns: number, whether all its traces were read, indexes of transactions whose traces were, where not all were
-- index: blocks_pkey, transactions_pkey
SELECT b.number, b.traced IS TRUE, ARRAY(
    SELECT t.transaction_index
    FROM transactions t
    WHERE b.traced IS FALSE AND t.traced
        AND t.ordinal BETWEEN b.transactions_before AND b.transactions_before + b.transaction_count - 1)
FROM blocks b
WHERE b.number BETWEEN %(block_from)s AND %(block_to)s;
