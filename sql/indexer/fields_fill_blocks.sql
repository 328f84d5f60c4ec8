-- Fills later columns of blocks that lack them, and are still those that were fetched: `rows` has an
-- object of their values for each.
-- params: numbers bigint[], hashes bytea[], rows jsonb
-- returns: nothing
-- index: blocks_pkey
UPDATE blocks b
SET base_fee_per_gas = coalesce(b.base_fee_per_gas, f.base_fee_per_gas)
FROM unnest(%(numbers)s::bigint[], %(hashes)s::bytea[]) WITH ORDINALITY AS fetched (number, hash, n)
CROSS JOIN LATERAL (SELECT %(rows)s::jsonb -> (fetched.n - 1)::integer AS row) AS r
CROSS JOIN LATERAL jsonb_populate_record(NULL::blocks, r.row) AS f
WHERE b.number = fetched.number
    AND b.hash = fetched.hash
    AND NOT to_jsonb(b) @> jsonb_strip_nulls(r.row);
