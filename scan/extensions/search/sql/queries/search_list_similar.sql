-- Tokens whose names are similar to a text, the most similar first. It needs the extension pg_trgm (see
-- sql/schema/chain_tables.sql).
-- params: text text, limit integer
-- returns: one row: index version, JSON text of the records
-- index: tokens_by_similar_name, blocks_pkey, addresses_pkey, contracts_pkey, verified_contracts_by_code_hash,
--   tokens_by_skeleton, pools_pkey
SELECT index_version(), json_list(string_agg(
    search_record('token', hex(near.address), (near.token).name, (near.token).symbol, 'similar', counted_holders(near.token),
        (SELECT seen_at FROM first_seen_at(near.address, (near.token).block_number)),
        EXISTS (SELECT FROM verification_of(near.address) WHERE match <> 'runtime'),
        (SELECT n.record FROM namesake_of(near.token) AS n))::text, ','
    ORDER BY near.distance ASC, near.address ASC))
FROM (
    SELECT k.address, k AS token,
        lower(k.name) <-> lower(%(text)s) AS distance
    FROM tokens k
    ORDER BY lower(k.name) <-> lower(%(text)s)
    LIMIT %(limit)s
) AS near
WHERE near.distance < 0.7;
