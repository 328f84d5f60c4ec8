
INSERT INTO tokens (address, block_number, type, name, symbol, decimals, total_supply, item_type)
VALUES (%(token)s, 0, 'BEP20', 'Large', 'L', 18, 0, NULL);
INSERT INTO token_holders (holder, token_address, balance)
SELECT substr(sha256(n::text::bytea), 1, 20), %(token)s, CASE n % 5
        WHEN 0 THEN 1 + n % 3 WHEN 1 THEN 1000000000000000000 WHEN 2 THEN 1200000 + n % 9
        WHEN 3 THEN -n ELSE trunc((n % 97 + 1) * 10::numeric ^ (n % 70) + n) END
FROM generate_series(1, 15000) AS n;
UPDATE tokens SET holder_count = 12000 WHERE address = %(token)s;
INSERT INTO token_holder_ranges
SELECT token_address, holder_range(balance, holder), count(*) FROM token_holders
WHERE balance > 0 GROUP BY 1, 2;
