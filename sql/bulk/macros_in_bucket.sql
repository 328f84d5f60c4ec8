-- In DuckDB: whether a key belongs to the bucket that a table is derived of just now; with one bucket,
-- mask 0, all do. Set by bulk/bucket_set.
-- params: none
-- returns: nothing; makes the macro in_bucket
-- index: none
CREATE OR REPLACE TEMPORARY MACRO in_bucket(key) AS
    (hash(key) & getvariable('bucket').mask) = getvariable('bucket').number;
