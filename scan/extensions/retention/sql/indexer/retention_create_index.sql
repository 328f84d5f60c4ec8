-- Makes an index of log_emitters by block. Where rows are removed new ones take their place, so that a BRIN
-- of blocks excludes nothing any more.
-- params: none
-- returns: nothing
-- index: none
CREATE INDEX IF NOT EXISTS log_emitters_by_block_number ON log_emitters (block_number);
