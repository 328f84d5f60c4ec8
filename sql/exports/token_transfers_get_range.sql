-- Token transfers of a range of blocks, in the chain's order.
-- params: columns identifiers, block_from bigint, block_to bigint
-- returns: the columns, which are those of its kind in scan/exports/columns.py
-- index: token_transfers_pkey, blocks_pkey
SELECT %(columns)s
FROM token_transfers x
WHERE x.ordinal BETWEEN (SELECT first FROM token_transfer_ordinals(%(block_from)s, %(block_to)s))
    AND (SELECT last FROM token_transfer_ordinals(%(block_from)s, %(block_to)s))
ORDER BY x.ordinal;
