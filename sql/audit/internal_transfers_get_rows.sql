-- Columns of internal transfers to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: block number, transaction index, transfer index; type, from, to, value
-- index: internal_transfers_pkey, blocks_pkey
SELECT block_number, transaction_index, transfer_index, type, from_address, to_address, value
FROM internal_transfers
WHERE ordinal >= (SELECT b.internal_transfers_before FROM blocks b WHERE b.number = %(block_from)s)
    AND ordinal < (SELECT b.internal_transfers_before + b.internal_transfer_count FROM blocks b
        WHERE b.number = %(block_to)s);
