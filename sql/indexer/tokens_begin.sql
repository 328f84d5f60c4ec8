-- Begins another life of a token that ended.
-- params: address bytea, block_number bigint, log_index integer, type text, name text, symbol text,
--   decimals smallint, total_supply numeric, supply_missing boolean, has_holdings boolean, item_type text null, read_block bigint,
--   supply_block bigint
-- literals: none
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens k
SET ended_in = NULL, wraps_since = NULL, inconsistent_since = NULL, contradicted = NULL, name_since = NULL, symbol_since = NULL,
    dated = NULL, asked_holders = NULL, drawn_holders = NULL, block_number = %(block_number)s, log_index = %(log_index)s,
    type = %(type)s, name = %(name)s, symbol = %(symbol)s, decimals = %(decimals)s,
    total_supply = %(total_supply)s, supply_missing = %(supply_missing)s, has_holdings = %(has_holdings)s, item_type = %(item_type)s,
    read_block = %(read_block)s, supply_block = %(supply_block)s
WHERE k.address = %(address)s;
