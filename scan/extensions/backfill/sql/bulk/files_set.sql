-- In DuckDB: makes the views that number rows of the long tables read all files.
-- params: none
-- returns: nothing
-- index: none
SET VARIABLE chosen = (
    SELECT {'first': 0::BIGINT, 'bound': 9223372036854775807, 'files': map(list(k.kind), list(k.files))}
    FROM (
        SELECT kind, list(filename ORDER BY filename) AS files
        FROM file_ordinals
        GROUP BY kind
    ) AS k);
