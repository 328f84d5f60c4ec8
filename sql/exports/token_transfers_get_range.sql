-- Token transfers of a range of blocks, in the chain's order.
-- params: block_from bigint, block_to bigint
-- returns: the columns of its kind in scan/exports/columns.py; numeric as text
-- index: token_transfers_pkey, blocks_pkey
SELECT x.block_number, x.transaction_index, x.log_index, x.token_address, x.from_address,
    x.to_address, x.batch_index, x.value::text, x.token_id::text
FROM token_transfers x
WHERE x.ordinal BETWEEN (SELECT first FROM token_transfer_ordinals(%(block_from)s, %(block_to)s))
    AND (SELECT last FROM token_transfer_ordinals(%(block_from)s, %(block_to)s))
ORDER BY x.ordinal;
