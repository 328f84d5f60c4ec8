-- The first block that a reorganisation may take back: when lists were let begin later, where addresses
-- had been seen before was not noted of older blocks.
-- params: none
-- returns: no row where all rows are kept; a block number
-- index: none
SELECT greatest(removed_to, CASE WHEN removed_to >= first_block THEN decided_block + 1 END) FROM retention;
