-- Withdrawals of a range of blocks, in the chain's order.
-- params: block_from bigint, block_to bigint
-- returns: the columns of its kind in scan/exports/columns.py; numeric as text
-- index: withdrawals_pkey
SELECT w.block_number, w.withdrawal_index, w.validator_index, w.address, w.amount_wei::text
FROM withdrawals w
WHERE w.block_number BETWEEN %(block_from)s AND %(block_to)s
ORDER BY w.block_number, w.withdrawal_index;
