-- In DuckDB: whether a key's hash is in the range of the bucket that is being derived, which
-- bulk/bucket_set sets. DuckDB applies no other condition on a hash before it groups. The 0 is hashed too,
-- so that a bucket's keys differ in the bits by which DuckDB divides groups.
-- params: none
-- returns: nothing; makes the macro in_bucket
-- index: none
CREATE OR REPLACE TEMPORARY MACRO in_bucket(key) AS
    hash(key, 0) BETWEEN getvariable('bucket').first AND getvariable('bucket').last;
