-- In DuckDB: the text of rows of delegated_calls that change something.
-- params: columns expressions
-- returns: the table's columns
-- index: none
SELECT %(columns)s
FROM (
    SELECT *, lag(implementation) OVER (PARTITION BY address, selector ORDER BY block_number) AS before
    FROM delegated_calls_files)
WHERE implementation IS DISTINCT FROM before;
