-- By which transfers the holders of a token after a block are known: those up to the block, or those since, which its
-- present holders are to be freed of. Both are counted.
-- params: address bytea, block_number bigint
-- literals: none
-- returns: one row: index version, hash of the block (null: not indexed), type of the token then (null: there is no
--   such token), whether it has had one life, whether its ids are all known, since which block its events do not add
--   up or null, first block whose rows are kept, first block of its present life; transfers up to the block and since,
--   present holders, items; ordinals: of its first transfer, of the first row after the block, of the first row to come
-- index: tokens_pkey, blocks_pkey, list_checkpoints_pkey, token_transfers_by_token, contract_creations_by_address,
--   kept_addresses_pkey
SELECT index_version(), bound.hash, k.type, (t.earlier_lives IS NULL AND t.ended_in IS NULL),
    t.item_transfer_count = t.transfer_count,
    coalesce(k.inconsistent_since, (SELECT c.start_block FROM chain c WHERE c.start_block > 0 AND NOT EXISTS (
        SELECT FROM contract_creations n WHERE n.address = %(address)s))),
    first_kept_block_of(%(address)s), t.block_number,
    transfers.before, t.transfer_count - transfers.before, t.holder_count, t.item_count,
    coalesce((SELECT min(x.ordinal) FROM token_transfers x WHERE x.token_address = %(address)s), 0),
    bound.ordinal, newest.ordinal
FROM (SELECT) AS always
LEFT JOIN tokens t ON t.address = %(address)s
LEFT JOIN LATERAL token_at(t, %(block_number)s, 2147483647) AS k ON t.address IS NOT NULL
LEFT JOIN LATERAL (
    SELECT b.hash, b.token_transfers_before + b.token_transfer_count AS ordinal
    FROM blocks b
    WHERE b.number = %(block_number)s
) AS bound ON true
LEFT JOIN LATERAL (
    SELECT b.token_transfers_before + b.token_transfer_count AS ordinal
    FROM blocks b
    ORDER BY b.number DESC
    LIMIT 1
) AS newest ON true
LEFT JOIN LATERAL (
    SELECT entries_before('token_transfers_by_token', %(address)s, t.transfer_count, bound.ordinal) AS before
) AS transfers ON true;
