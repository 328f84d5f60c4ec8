-- In DuckDB: which bucket of keys in_bucket() lets through: the number, among mask + 1, a power of two.
-- params: mask bigint, bucket bigint
-- returns: nothing
-- index: none
SET VARIABLE bucket = {'mask': %(mask)s::UBIGINT, 'number': %(bucket)s::UBIGINT};
