-- In DuckDB: sets the partition whose rows in_partition() lets through, with the ordinals from first to
-- below bound, and the files that have such rows. A filter of file names would not do: DuckDB then expects
-- one row, and takes all rows of the partition into memory to join them.
-- params: table text, first bigint, bound bigint
-- returns: nothing
-- index: none
SET VARIABLE chosen = (
    SELECT {
        'first': %(first)s::BIGINT, 'bound': %(bound)s::BIGINT,
        'files': map([%(table)s], [list(f.filename ORDER BY f.filename)])}
    FROM file_ordinals f
    WHERE f.kind = %(table)s AND f.rows_before < %(bound)s AND f.filename >= (
        SELECT max(before.filename)
        FROM file_ordinals before
        WHERE before.kind = %(table)s AND before.rows_before <= %(first)s));
