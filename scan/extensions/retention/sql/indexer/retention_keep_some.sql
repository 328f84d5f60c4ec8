-- Notes some transactions of a block, all rows of which stay.
-- params: block bigint, indexes integer[]
-- returns: nothing
-- index: kept_transactions_pkey
INSERT INTO kept_transactions (block_number, transaction_index)
SELECT %(block)s, i.transaction_index FROM unnest(%(indexes)s::integer[]) AS i (transaction_index)
ON CONFLICT DO NOTHING;
