-- Which of these transactions, by the numbers of their blocks and their indexes in them, have token transfers.
-- params: numbers bigint[], indexes integer[]
-- literals: none
-- returns: one row: index version, the places from 1 on of those that have some, in the arrays
-- index: blocks_pkey, token_transfers_pkey
SELECT index_version(), coalesce(array_agg(s.place), '{}')
FROM unnest(%(numbers)s::bigint[], %(indexes)s::integer[]) WITH ORDINALITY AS s (number, transaction_index, place)
JOIN (
    SELECT DISTINCT x.block_number, x.transaction_index
    FROM blocks b
    JOIN token_transfers x
        ON x.ordinal >= b.token_transfers_before AND x.ordinal < b.token_transfers_before + b.token_transfer_count
    WHERE b.number = ANY (%(numbers)s)
) AS moved ON moved.block_number = s.number AND moved.transaction_index = s.transaction_index;
