-- In DuckDB: the columns of a Parquet file.
-- params: file text
-- returns: name, type and more of each
-- index: none
DESCRIBE SELECT * FROM read_parquet(%(file)s);
