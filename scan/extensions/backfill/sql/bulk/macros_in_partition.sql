-- In DuckDB: whether a row of a long table belongs to the partition that is being loaded, which
-- bulk/files_set and bulk/partition_set set. Every row of a table without partitions does.
-- params: none
-- returns: nothing; makes the macro in_partition
-- index: none
CREATE OR REPLACE TEMPORARY MACRO in_partition(ordinal) AS
    ordinal >= getvariable('chosen').first AND ordinal < getvariable('chosen').bound;
