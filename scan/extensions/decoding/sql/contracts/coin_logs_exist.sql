-- Tells whether moving coin emits logs in some block (EIP-7708).
-- params: none
-- literals: none
-- returns: one row: true or false
-- index: blocks_with_coin_logs
SELECT EXISTS (SELECT FROM blocks WHERE coin_logs);
