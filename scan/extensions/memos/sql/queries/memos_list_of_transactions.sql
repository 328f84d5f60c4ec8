-- The beginnings of the memos of transactions, of those that called no contract.
-- params: blocks bigint[], transaction_indexes integer[], to_addresses bytea[], most integer
-- literals: none
-- returns: one row: index version, JSON array in no order of [block number, transaction index, text], which
--   has `most` characters at most
-- index: memos_pkey, contracts_pkey
WITH requested AS MATERIALIZED (
    SELECT r.block_number, r.transaction_index
    FROM unnest(%(blocks)s::bigint[], %(transaction_indexes)s::integer[], %(to_addresses)s::bytea[])
        r (block_number, transaction_index, to_address)
    WHERE NOT EXISTS (SELECT FROM contracts c WHERE c.address = r.to_address)
)
SELECT index_version(), coalesce((
    SELECT json_agg(json_build_array(m.block_number, m.transaction_index, left(m.text, %(most)s)))
    FROM (SELECT DISTINCT block_number FROM requested) b
    CROSS JOIN LATERAL (
        SELECT x.block_number, x.transaction_index, x.text
        FROM memos x
        WHERE x.ordinal BETWEEN first_ordinal_in(b.block_number) AND last_ordinal_in(b.block_number)
    ) m
    WHERE (m.block_number, m.transaction_index) IN (
        SELECT r.block_number, r.transaction_index FROM requested r)
), '[]')::text;
