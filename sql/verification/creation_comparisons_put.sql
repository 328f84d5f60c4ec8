-- Stores whether a contract was created like a verified one with the same code, unless a reorganisation has
-- removed it meanwhile.
-- params: address bytea, code_hash bytea, creation_hash bytea, is_equal boolean,
--   constructor_arguments bytea null, compared_at timestamptz
-- returns: no rows
-- index: creation_comparisons_pkey, contracts_pkey
INSERT INTO creation_comparisons (address, code_hash, creation_hash, is_equal, constructor_arguments, compared_at)
SELECT %(address)s, %(code_hash)s, %(creation_hash)s, %(is_equal)s, %(constructor_arguments)s, %(compared_at)s
WHERE is_code_indexed(%(address)s, %(code_hash)s)
ON CONFLICT (address, code_hash) DO UPDATE
SET creation_hash = excluded.creation_hash, is_equal = excluded.is_equal,
    constructor_arguments = excluded.constructor_arguments, compared_at = excluded.compared_at;
