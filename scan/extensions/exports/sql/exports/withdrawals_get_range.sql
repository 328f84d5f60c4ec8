-- Withdrawals of a range of blocks, in the chain's order.
-- params: columns identifiers, block_from bigint, block_to bigint
-- returns: the columns, which are those of its kind in parquet_columns.py
-- index: withdrawals_pkey
SELECT %(columns)s
FROM withdrawals w
WHERE w.block_number BETWEEN %(block_from)s AND %(block_to)s
ORDER BY w.block_number, w.withdrawal_index;
