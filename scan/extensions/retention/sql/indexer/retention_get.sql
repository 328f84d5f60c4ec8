-- The first kept block, and the progress of removing the rows before it.
-- params: none
-- returns: no row where all are kept; else first_block, decided_block, decided_at, removed_to
-- index: none
SELECT first_block, decided_block, decided_at, removed_to FROM retention;
