-- Fills a derived table from the stored rows of all blocks.
-- params: table text
-- returns: nothing
-- index: none
SELECT fill_table(%(table)s);
