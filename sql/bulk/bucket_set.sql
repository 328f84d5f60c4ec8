-- In DuckDB: which bucket of keys in_bucket() lets through: those from one hash on up to another.
-- params: first bigint, last bigint
-- returns: nothing
-- index: none
SET VARIABLE bucket = {'first': %(first)s::UBIGINT, 'last': %(last)s::UBIGINT};
