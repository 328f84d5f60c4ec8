-- Internal transfers of a range of blocks, in the chain's order.
-- params: columns identifiers, block_from bigint, block_to bigint
-- returns: the columns, which are those of its kind in scan/exports/columns.py
-- index: internal_transfers_pkey, blocks_pkey
SELECT %(columns)s
FROM internal_transfers i
WHERE i.ordinal BETWEEN (SELECT first FROM internal_transfer_ordinals(%(block_from)s, %(block_to)s))
    AND (SELECT last FROM internal_transfer_ordinals(%(block_from)s, %(block_to)s))
ORDER BY i.ordinal;
