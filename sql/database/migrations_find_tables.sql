-- What kind of database this is, before anything of ours may be asked.
-- params: none
-- returns: one row: whether it has tables of Scan, whether these know of migrations
-- index: none
SELECT to_regclass('blocks') IS NOT NULL, to_regclass('migrations') IS NOT NULL;
