-- In DuckDB: log_emitters as definitions of sql/schema/ read them.
-- params: none
-- returns: nothing; makes the view log_emitters
-- index: none
CREATE OR REPLACE TEMPORARY VIEW log_emitters AS
SELECT e.address, e.block_number FROM log_emitters_files e;
