-- Fills later columns of blocks that lack them, and are still those that were fetched: `fetched` has an
-- object for each, of its number, its hash and these columns.
-- params: fetched jsonb
-- returns: nothing
-- index: blocks_pkey
UPDATE blocks b
SET base_fee_per_gas = coalesce(b.base_fee_per_gas, f.base_fee_per_gas),
    size = coalesce(b.size, f.size)
FROM jsonb_populate_recordset(NULL::blocks, %(fetched)s::jsonb) AS f
WHERE b.number = f.number
    AND b.hash = f.hash
    AND NOT to_jsonb(b) @> jsonb_strip_nulls(to_jsonb(f));
