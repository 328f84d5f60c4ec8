-- In DuckDB: the text of rows of dex_trades, of one partition.
-- params: columns expressions
-- returns: the table's columns
-- index: none
SELECT d.ordinal, x.dex_id, %(columns)s
FROM dex_trades d
JOIN indexed_dexes x ON x.name = d.dex
WHERE in_partition(d.ordinal);
