-- Why sums of rows may be less than balances.
-- params: none
-- returns: no row before the first block; else the first indexed block, whether rows were removed, how many
--   blocks lack traces (null: none has any), hash of block 0 (null: it is not indexed)
-- index: blocks_pkey
SELECT c.start_block, EXISTS (SELECT FROM retention r), blocks_without_transfers(),
    (SELECT b.hash FROM blocks b WHERE b.number = 0)
FROM chain c;
