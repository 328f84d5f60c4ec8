-- Queries of the files of `scan export`, in their folder. $address and $token are 40 hex digits without 0x.

-- An amount of more than 38 digits is null, but for its text; exact() raises an error there:
CREATE MACRO exact(value, digits) AS
    CASE WHEN value IS NULL AND digits IS NOT NULL THEN error('more than 38 digits') ELSE value END;
CREATE MACRO hex_address(address) AS '0x' || lower(hex(address));
CREATE VIEW blocks AS FROM 'blocks/*.parquet';
CREATE VIEW token_transfers AS FROM 'token_transfers/*.parquet';
CREATE VIEW dex_trades AS FROM 'dex_trades/*.parquet';
CREATE VIEW tokens AS FROM 'tokens.parquet';

-- The three busiest tokens of each day:
SELECT to_timestamp(b.timestamp_s)::DATE AS day, any_value(t.symbol) AS symbol,
    hex_address(x.token_address) AS token, count(*) AS transfers,
    count(DISTINCT x.from_address) AS senders
FROM token_transfers x
JOIN blocks b ON b.number = x.block_number
JOIN tokens t ON t.address = x.token_address
GROUP BY day, x.token_address
QUALIFY row_number() OVER (PARTITION BY day ORDER BY transfers DESC, token) <= 3
ORDER BY day, transfers DESC, token;

-- What an address gained and gave by trades, by token:
WITH moved AS (
    SELECT token_in AS token, -amount_in_string::DOUBLE AS units
    FROM dex_trades WHERE maker = unhex($address)
    UNION ALL
    SELECT token_out, amount_out_string::DOUBLE FROM dex_trades WHERE maker = unhex($address)
)
SELECT hex_address(m.token) AS token, any_value(t.symbol) AS symbol, count(*) AS trades,
    sum(m.units) / pow(10, any_value(t.decimals)) AS net_amount
FROM moved m
LEFT JOIN tokens t ON t.address = m.token
GROUP BY m.token
ORDER BY trades DESC, token;

-- Holders of a token at the end of each day, without the zero address, as in `holderCount`:
WITH changes AS (
    SELECT to_timestamp(b.timestamp_s)::DATE AS day, x.to_address AS holder,
        exact(value, value_string) AS units
    FROM token_transfers x JOIN blocks b ON b.number = x.block_number
    WHERE x.token_address = unhex($token)
    UNION ALL
    SELECT to_timestamp(b.timestamp_s)::DATE, x.from_address, -exact(value, value_string)
    FROM token_transfers x JOIN blocks b ON b.number = x.block_number
    WHERE x.token_address = unhex($token)
), balances AS (
    SELECT day, holder,
        sum(sum(units)) OVER (PARTITION BY holder ORDER BY day) AS balance,
        sum(sum(units)) OVER (PARTITION BY holder ORDER BY day) - sum(units) AS balance_before
    FROM changes
    WHERE holder <> unhex(repeat('00', 20))
    GROUP BY day, holder
)
SELECT day, sum(sum((balance > 0)::INT - (balance_before > 0)::INT)) OVER (ORDER BY day) AS holders
FROM balances
GROUP BY day
ORDER BY day;
