-- Transactions of a range of blocks, in the chain's order.
-- params: columns identifiers, block_from bigint, block_to bigint
-- returns: the columns, which are those of its kind in scan/exports/columns.py
-- index: transactions_pkey, blocks_pkey
SELECT %(columns)s
FROM transactions t
WHERE t.ordinal BETWEEN (SELECT first FROM transaction_ordinals(%(block_from)s, %(block_to)s))
    AND (SELECT last FROM transaction_ordinals(%(block_from)s, %(block_to)s))
ORDER BY t.ordinal;
