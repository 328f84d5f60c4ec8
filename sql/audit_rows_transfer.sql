-- What token transfers say, to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: block number, log index, batch index; transaction index, token, from, to, value, id
-- index: token_transfers_pkey
SELECT block_number, log_index, batch_index, transaction_index, token_address, from_address,
    to_address, value, token_id
FROM token_transfers
WHERE block_number BETWEEN %(block_from)s AND %(block_to)s;
