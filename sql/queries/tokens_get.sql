-- One token, with the further values that its page shows.
-- params: address bytea
-- literals: none
-- returns: one row: index version, the record as JSON text or null
-- index: tokens_pkey, blocks_pkey, addresses_pkey, contracts_pkey, verified_contracts_by_code_hash,
--   tokens_by_skeleton, pools_pkey, listed_tokens_pkey
SELECT index_version(), (
    SELECT token_detail_record(k,
        (SELECT seen_at FROM first_seen_at(k.address, k.block_number)),
        EXISTS (SELECT FROM verification_of(k.address) WHERE match <> 'runtime'),
        (SELECT n.record FROM namesake_of(k) AS n), l)::text
    FROM tokens k
    LEFT JOIN listed_tokens l ON l.address = k.address
    WHERE k.address = %(address)s AND k.ended_in IS NULL);
