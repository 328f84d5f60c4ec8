-- Columns of token transfers to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: block number, log index, batch index; transaction index, token, from, to, value, id
-- index: token_transfers_pkey, blocks_pkey
SELECT block_number, log_index, coalesce(batch_index, 0), transaction_index, token_address,
    from_address, to_address, value, token_id
FROM token_transfers
WHERE ordinal >= (SELECT b.token_transfers_before FROM blocks b WHERE b.number = %(block_from)s)
    AND ordinal < (SELECT b.token_transfers_before + b.token_transfer_count FROM blocks b
        WHERE b.number = %(block_to)s);
