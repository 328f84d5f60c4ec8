-- Lets tables of blocks' rows that begin after a block begin with the next one: the blocks after it are removed,
-- and those that replace them are written with all rows.
-- params: last_kept bigint
-- returns: nothing
-- index: none
UPDATE filled_tables SET first_block = %(last_kept)s + 1 WHERE first_block > %(last_kept)s + 1;
