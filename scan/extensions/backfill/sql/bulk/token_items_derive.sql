-- In DuckDB: every id that was ever moved, with the limbs of its id and the block of its first transfer,
-- which bulk/list_checkpoints_derive reads.
-- params: none
-- returns: the columns of the table token_items in DuckDB
-- index: none
SELECT i.token_address, i.token_id, i.first_ordinal, i.transfer_count, i.owner, i.owner_count,
    x.token_id_0, x.token_id_1, x.token_id_2, x.token_id_3, x.block_number AS first_block
FROM token_items_expected() i
JOIN token_transfers x ON x.ordinal = i.first_ordinal
WHERE in_bucket(i.token_address);
