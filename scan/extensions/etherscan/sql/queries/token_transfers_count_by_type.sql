-- The number of token transfers in a block, by the tokens' types.
-- params: block_number bigint
-- literals: none
-- returns: one row: index version, those of BEP20, BEP721 and BEP1155
-- index: blocks_pkey, token_transfers_pkey, tokens_pkey
SELECT index_version(), count(*) FILTER (WHERE moved_type(k, x.token_id) = 'BEP20'),
    count(*) FILTER (WHERE moved_type(k, x.token_id) = 'BEP721'), count(*) FILTER (WHERE k.type = 'BEP1155')
FROM blocks b
JOIN token_transfers x
    ON x.ordinal >= b.token_transfers_before
        AND x.ordinal < b.token_transfers_before + b.token_transfer_count
JOIN tokens k ON k.address = x.token_address
WHERE b.number = %(block_number)s;
