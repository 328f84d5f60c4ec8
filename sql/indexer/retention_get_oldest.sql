-- The first block that a reorganisation may take back. The rows of older ones are removed, or
-- earlier_sightings lacks theirs: it is filled only for blocks after decided_block.
-- params: none
-- returns: no row where all rows are kept; a block number
-- index: none
SELECT greatest(removed_to, CASE WHEN removed_to >= first_block THEN decided_block + 1 END) FROM retention;
