-- Withdrawals of a range of blocks, in the chain's order.
-- params: columns identifiers, block_from bigint, block_to bigint
-- returns: the columns, which are EXPORTED["withdrawals"] of table_rows.py
-- index: withdrawals_pkey
SELECT %(columns)s
FROM withdrawals w
CROSS JOIN LATERAL (SELECT builder_index(w.validator_index) AS builder_index) AS o
WHERE w.block_number BETWEEN %(block_from)s AND %(block_to)s
ORDER BY w.block_number, w.withdrawal_index;
