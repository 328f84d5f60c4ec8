-- In DuckDB: log_emitters in the form that definitions of sql/schema/ read.
-- params: none
-- returns: nothing; makes the view log_emitters
-- index: none
CREATE OR REPLACE TEMPORARY VIEW log_emitters AS
SELECT e.address, e.block_number FROM log_emitters_files e;
