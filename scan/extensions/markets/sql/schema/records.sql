-- The record of a pool. `last_trade` is null without trades, as `volumes` may be; only the address is known
-- of a token that never moved.
CREATE OR REPLACE FUNCTION pool_record(
    p pools, volumes pool_volumes, dex text, token0 tokens, token1 tokens, last_trade json)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"address":"%s","poolId":%s,"dex":%s,"token0":"%s","token0Symbol":%s,"token0Decimals":%s,"token1":"%s",'
    '"token1Symbol":%s,"token1Decimals":%s,"tradeCount":%s,"lastTradeHash":%s,"lastTradeAt":%s,'
    '"volume0":"%s","volume1":"%s","unproven":["dex","token0","token0Symbol","token0Decimals","token1",'
    '"token1Symbol","token1Decimals"]}',
    hex(pool_contract(p.address)), json_pool_id(p.address), json_text(dex), hex(p.token0), json_text(token0.symbol),
    coalesce(token0.decimals::text, 'null'), hex(p.token1), json_text(token1.symbol),
    coalesce(token1.decimals::text, 'null'), p.trade_count,
    json_text(last_trade ->> 'transactionHash'), json_text(last_trade ->> 'timestamp'),
    coalesce(volumes.volume0, 0), coalesce(volumes.volume1, 0));

-- The number of a token's smallest units in one of it; decimals that are not known count as 0.
CREATE OR REPLACE FUNCTION token_unit(t tokens) RETURNS numeric LANGUAGE sql STABLE
RETURN ('1e' || coalesce(t.decimals, 0))::numeric;

-- The price of one token0 in token1, with at least 16 significant digits; null where a side has nothing.
CREATE OR REPLACE FUNCTION pool_price(amount0 numeric, amount1 numeric, unit0 numeric, unit1 numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE
RETURN CASE WHEN amount0 > 0 AND amount1 > 0 THEN (amount1 * unit0) / (amount0 * unit1) END;

-- The record of a candle of any span of time; prices are null where no trade has one.
CREATE OR REPLACE FUNCTION candle_record(
    start timestamptz, open numeric, high numeric, low numeric, close numeric, volume0 numeric,
    volume1 numeric, trades bigint)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"time":"%s","open":%s,"high":%s,"low":%s,"close":%s,"volume0":"%s","volume1":"%s",'
    '"trades":%s}',
    iso(start), json_text(trim_scale(open)::text), json_text(trim_scale(high)::text),
    json_text(trim_scale(low)::text), json_text(trim_scale(close)::text), volume0, volume1, trades);

-- The volume of a pool since a time, or in all.
CREATE OR REPLACE FUNCTION volume_record(
    period text, start timestamptz, volume0 numeric, volume1 numeric, trades bigint)
RETURNS text LANGUAGE sql STABLE
RETURN format('{"period":"%s","timeFrom":%s,"volume0":"%s","volume1":"%s","trades":%s}', period,
    json_text(iso(start)), volume0, volume1, trades);
