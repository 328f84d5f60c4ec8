-- In DuckDB: which rows of a long table in_partition() lets through: those with the ordinals from first to
-- below bound, which the files from first_file to last_file have.
-- params: table text, first bigint, bound bigint
-- returns: nothing
-- index: none
SET VARIABLE partition = (
    SELECT {
        'first': %(first)s::BIGINT, 'bound': %(bound)s::BIGINT,
        'first_file': max(filename) FILTER (WHERE rows_before <= %(first)s::BIGINT),
        'last_file': max(filename) FILTER (WHERE rows_before < %(bound)s::BIGINT)}
    FROM file_ordinals
    WHERE kind = %(table)s);
