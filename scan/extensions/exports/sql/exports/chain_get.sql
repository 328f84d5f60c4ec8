-- The indexed chain and its kept blocks.
-- params: none
-- returns: no row before the first block; else its id (text), the genesis block's hash, the numbers
--   of the oldest block whose rows are kept and of the newest block, the newest block's hash
-- index: chain_pkey, blocks_pkey
SELECT c.chain_id::text, c.genesis_hash, greatest(oldest.number, first_kept_block()), newest.number, newest.hash
FROM chain c,
    (SELECT b.number FROM blocks b ORDER BY b.number ASC LIMIT 1) AS oldest,
    (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS newest;
