-- Internal transfers of a range of blocks, in the chain's order.
-- params: block_from bigint, block_to bigint
-- returns: the columns of its kind in scan/exports/columns.py; numeric as text
-- index: internal_transfers_pkey, blocks_pkey
SELECT i.block_number, i.transaction_index, i.transfer_index, i.type, i.from_address,
    i.to_address, i.value::text
FROM internal_transfers i
WHERE i.ordinal BETWEEN (SELECT first FROM internal_transfer_ordinals(%(block_from)s, %(block_to)s))
    AND (SELECT last FROM internal_transfer_ordinals(%(block_from)s, %(block_to)s))
ORDER BY i.ordinal;
