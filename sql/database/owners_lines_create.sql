-- Makes the table of the lines of a file of owners' data, until the transaction ends.
-- params: none
-- returns: nothing
-- index: none
CREATE TEMPORARY TABLE owners_lines (line json) ON COMMIT DROP;
