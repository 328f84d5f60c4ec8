-- A holder of many tokens, and pools of a base token, each with hours of trades.
INSERT INTO tokens (address, block_number, type, name, symbol, decimals, total_supply, supply_block,
    item_type, holder_count)
SELECT decode(md5(n::text) || '00000000', 'hex'), 0, 'BEP20', 'Made ' || n, 'M' || n % 500, 18,
    1e30, 0, NULL, n
FROM generate_series(1, {held}) AS n
UNION ALL SELECT '\x{base}'::bytea, 0, 'BEP20', 'Base', 'BASE', 6, 1e30, 0, NULL, {holders};
INSERT INTO token_holders (holder, token_address, balance)
SELECT '\x{holder}'::bytea, decode(md5(n::text) || '00000000', 'hex'), n * 1e15
FROM generate_series(1, {held}) AS n;
INSERT INTO token_holders (holder, token_address, balance)
SELECT decode(md5(n::text) || '11111111', 'hex'), '\x{base}'::bytea, n * 1e6
FROM generate_series(1, {holders}) AS n;
INSERT INTO pools (address, block_number, dex_id, token0, token1)
SELECT decode(md5(n::text) || '11111111', 'hex'), 0, (SELECT min(dex_id) FROM dexes),
    decode(md5((n % {pools} + 1)::text) || '00000000', 'hex'), '\x{base}'::bytea
FROM generate_series({holders} - {pools} + 1, {holders}) AS n;
INSERT INTO token_holders (holder, token_address, balance)
SELECT p.address, p.token0, 1e20 FROM pools p WHERE p.token1 = '\x{base}'::bytea;
INSERT INTO pool_candles (pool_address, hour, trade_count, first_ordinal, volume0, volume1,
    close_amount0, close_amount1)
SELECT p.address, timestamptz '2026-01-01' + hour * interval '1 hour', 1, 0, 1, 1, 1e18, 2e6 + hour
FROM pools p CROSS JOIN generate_series(1, 48) AS hour WHERE p.token1 = '\x{base}'::bytea;
