-- How many rows each part of an export has stored.
-- params: none
-- returns: one row: contracts, compilations, files, sources
-- index: none
SELECT (SELECT count(*) FROM exported_contracts), (SELECT count(*) FROM exported_compilations),
    (SELECT count(*) FROM exported_files), (SELECT count(*) FROM exported_sources);
