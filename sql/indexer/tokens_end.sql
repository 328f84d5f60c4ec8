-- Ends the life of a token: its contract or delegation ended in a block, or has another type from it on. Its
-- name and numbers before that block are kept with it.
-- params: address bytea, block_number bigint, end_block bigint, name text, symbol text, decimals smallint,
--   total_supply numeric null
-- literals: none
-- returns: nothing
-- index: tokens_pkey, chain_pkey
WITH ended AS (
    UPDATE tokens k
    SET ended_in = %(block_number)s, name = '', symbol = '', decimals = 0, total_supply = 0,
        supply_missing = false, name_since = NULL, symbol_since = NULL, dated = NULL,
        earlier_lives = coalesce(k.earlier_lives, '[]') || jsonb_build_object(
            'block_number', k.block_number, 'log_index', k.log_index, 'type', k.type,
            'has_holdings', k.has_holdings, 'item_type', k.item_type, 'wraps_since', k.wraps_since, 'name', %(name)s::text,
            'symbol', %(symbol)s::text, 'decimals', %(decimals)s::smallint,
            'total_supply', coalesce(%(total_supply)s::numeric, 0),
            'supply_missing', %(total_supply)s::numeric IS NULL AND k.type <> 'BEP20',
            'ended_in', %(block_number)s::bigint, 'end_block', %(end_block)s::bigint)
    WHERE k.address = %(address)s AND k.ended_in IS NULL
    RETURNING k.has_holdings
)
UPDATE chain SET token_count = token_count - (SELECT count(*) FROM ended WHERE has_holdings);
