-- Columns of withdrawals to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: block number, withdrawal index; validator index, address, amount in wei
-- index: withdrawals_pkey
SELECT block_number, withdrawal_index, validator_index, address, amount_wei
FROM withdrawals
WHERE block_number BETWEEN %(block_from)s AND %(block_to)s;
