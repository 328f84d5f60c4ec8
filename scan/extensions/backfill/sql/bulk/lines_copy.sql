-- In DuckDB: the rows of `copied` as lines of PostgreSQL's CSV.
-- params: none
-- returns: a line for each row, with its end
-- index: none
SELECT concat_ws(',', *COLUMNS(*)) || chr(10) AS line
FROM (SELECT csv_text(COLUMNS(*)::VARCHAR) FROM copied);
