-- Which items were moved after their approval, which a transfer clears.
-- params: tokens bytea[], ids numeric[], blocks bigint[], log_indexes integer[]
-- literals: none
-- returns: one row: index version, array of booleans in their order
-- index: token_transfers_by_item, blocks_pkey
SELECT index_version(), ARRAY(
    SELECT EXISTS (
        SELECT
        FROM token_transfers x
        WHERE x.token_address = r.token AND x.token_id = r.id AND x.ordinal >= b.token_transfers_before
            AND (x.block_number, x.log_index) > (r.block_number, r.log_index))
    FROM unnest(%(tokens)s::bytea[], %(ids)s::numeric[], %(blocks)s::bigint[],
        %(log_indexes)s::integer[]) WITH ORDINALITY
        AS r (token, id, block_number, log_index, position)
    LEFT JOIN blocks b ON b.number = r.block_number
    ORDER BY r.position);
