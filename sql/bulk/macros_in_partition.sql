-- In DuckDB: whether a row of a long table belongs to the partition that is being loaded. Files without such
-- rows are not opened. Set by bulk/partition_set.
-- params: none
-- returns: nothing; makes the macro in_partition
-- index: none
CREATE OR REPLACE TEMPORARY MACRO in_partition(ordinal, filename) AS
    ordinal >= getvariable('partition').first AND ordinal < getvariable('partition').bound
    AND filename >= getvariable('partition').first_file AND filename <= getvariable('partition').last_file;
