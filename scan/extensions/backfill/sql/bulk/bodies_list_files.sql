-- In DuckDB: the files with rows of the partition of block_bodies that bulk/partition_set chose.
-- params: none
-- returns: paths, in the chain's order
-- index: none
SELECT unnest(getvariable('chosen').files['block_bodies']);
