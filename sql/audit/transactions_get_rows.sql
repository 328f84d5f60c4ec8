-- Transactions to compare with the node, whole: what is not compared is seen, too.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: transactions_pkey, blocks_pkey
SELECT to_jsonb(t)
FROM transactions t
WHERE t.ordinal >= (SELECT b.transactions_before FROM blocks b WHERE b.number = %(block_from)s)
    AND t.ordinal < (SELECT b.transactions_before + b.transaction_count FROM blocks b
        WHERE b.number = %(block_to)s);
