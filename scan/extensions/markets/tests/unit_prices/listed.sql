-- Tokens of a list, and a holder of few tokens.
INSERT INTO listed_tokens (address, list, name, symbol, decimals)
SELECT decode(md5(n::text) || '22222222', 'hex'), 'made', 'Listed ' || n, 'L' || n, 18
FROM generate_series(1, {held}) AS n
UNION ALL SELECT decode(md5('three') || '22222222', 'hex'), 'made', 'Three', '$ m３', 18;
INSERT INTO token_holders (holder, token_address, balance)
SELECT '\x{few_holder}'::bytea, decode(md5(n::text) || '00000000', 'hex'), n * 1e15
FROM generate_series(1, 5) AS n;
