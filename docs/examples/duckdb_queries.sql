-- Queries of the files of `scan export`, after the macros of docs/sql.md.
-- $address and $token are 40 hex digits without 0x.

-- What an address gained and gave by trades, by token:
WITH moved AS (
    SELECT token_in AS token, -approximate(amount_in_0, amount_in_1, amount_in_2, amount_in_3) AS units
    FROM dex_trades WHERE maker = unhex($address)
    UNION ALL
    SELECT token_out, approximate(amount_out_0, amount_out_1, amount_out_2, amount_out_3)
    FROM dex_trades WHERE maker = unhex($address)
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
        exact(value_0, value_1, value_2, value_3) AS units
    FROM token_transfers x JOIN blocks b ON b.number = x.block_number
    WHERE x.token_address = unhex($token)
    UNION ALL
    SELECT to_timestamp(b.timestamp_s)::DATE, x.from_address,
        -exact(value_0, value_1, value_2, value_3)
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
