-- In DuckDB: day_of() of sql/schema/changes.sql, as a number: it may be beyond calendars.
-- params: none
-- returns: nothing; makes the macro day_of
-- index: none
CREATE OR REPLACE TEMPORARY MACRO day_of(timestamp_s) AS timestamp_s // 86400;
