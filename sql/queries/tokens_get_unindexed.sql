-- The record of a token that is not indexed, by what its contract answers.
-- params: token jsonb, timestamp_s bigint
-- literals: none
-- returns: one row: index version, the record as JSON text as tokens_get has it
-- index: contracts_pkey, verified_contracts_by_code_hash, tokens_by_skeleton, pools_pkey, listed_tokens_pkey
SELECT index_version(), token_detail_record(k, to_timestamp(%(timestamp_s)s),
    EXISTS (SELECT FROM verification_of(k.address) WHERE match <> 'runtime'), (SELECT n.record FROM namesake_of(k) AS n),
    l)::text
FROM (
    SELECT t.*
    FROM jsonb_populate_record(NULL::tokens, '{"total_supply": 0}' || jsonb_strip_nulls(%(token)s) || '{"held_supply": 0,
        "holder_count": 0, "transfer_count": 0, "item_transfer_count": 0, "item_count": 0, "supply_missing": false,
        "is_reported": true}') AS t
) AS k
LEFT JOIN listed_tokens l ON l.address = k.address;
