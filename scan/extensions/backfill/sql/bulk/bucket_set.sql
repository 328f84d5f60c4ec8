-- In DuckDB: sets the range of hashes whose keys in_bucket() lets through.
-- params: first bigint, last bigint
-- returns: nothing
-- index: none
SET VARIABLE bucket = {'first': %(first)s::UBIGINT, 'last': %(last)s::UBIGINT};
