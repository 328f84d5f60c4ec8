-- Takes lives and ends of tokens back that began in blocks about to be deleted.
-- params: last_kept bigint
-- returns: the addresses of tokens whose life is another now
-- index: tokens_with_lives, chain_pkey
WITH kept AS (
    SELECT k.address, k.ended_in IS NULL AND k.has_holdings AS was_present,
        (SELECT e FROM jsonb_array_elements(k.earlier_lives) AS e
        WHERE (e ->> 'block_number')::bigint <= %(last_kept)s
        ORDER BY (e ->> 'end_block')::bigint DESC, (e ->> 'block_number')::bigint DESC
        LIMIT 1) AS life,
        (SELECT jsonb_agg(e ORDER BY (e ->> 'end_block')::bigint, (e ->> 'block_number')::bigint)
        FROM jsonb_array_elements(k.earlier_lives) AS e
        WHERE (e ->> 'ended_in')::bigint <= %(last_kept)s) AS ended
    FROM tokens k
    WHERE k.earlier_lives IS NOT NULL
        AND (k.block_number > %(last_kept)s OR k.ended_in > %(last_kept)s)
), restored AS (
    UPDATE tokens k
    SET earlier_lives = b.ended, block_number = l.block_number, log_index = l.log_index, type = l.type,
        item_type = l.item_type, has_holdings = l.has_holdings, read_block = NULL, supply_block = NULL,
        inconsistent_since = NULL, contradicted = NULL, name_since = NULL, symbol_since = NULL,
        dated = NULL,
        wraps_since = CASE WHEN l.wraps_since <= %(last_kept)s THEN l.wraps_since END,
        ended_in = CASE WHEN l.ended_in <= %(last_kept)s THEN l.ended_in END,
        name = CASE WHEN l.ended_in <= %(last_kept)s THEN '' ELSE l.name END,
        symbol = CASE WHEN l.ended_in <= %(last_kept)s THEN '' ELSE l.symbol END,
        decimals = CASE WHEN l.ended_in <= %(last_kept)s THEN 0 ELSE l.decimals END,
        total_supply = CASE WHEN l.ended_in <= %(last_kept)s THEN 0 ELSE l.total_supply END,
        supply_missing = l.ended_in > %(last_kept)s AND l.supply_missing
    FROM kept b
    CROSS JOIN LATERAL jsonb_populate_record(NULL::tokens, b.life) AS l
    WHERE k.address = b.address AND b.life IS NOT NULL
    RETURNING k.address, (k.ended_in IS NULL AND k.has_holdings)::integer - b.was_present::integer AS added
), counted AS (
    UPDATE chain SET token_count = token_count + (SELECT coalesce(sum(added), 0) FROM restored)
)
SELECT address FROM restored;
