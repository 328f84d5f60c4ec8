-- Of a build each, but for the first, of which there are many; the followed ones are proxies, too.
CREATE FUNCTION of(text) RETURNS bytea LANGUAGE sql RETURN substr(sha256($1::bytea), 1, 20);
INSERT INTO contracts SELECT of('many' || n), n, sha256('code1')
FROM generate_series(1, {of_a_build}) AS n;
INSERT INTO contracts SELECT of('one' || n), n, sha256(('code' || n)::bytea)
FROM generate_series(2, {builds}) AS n;
INSERT INTO contracts SELECT of('other' || n), n, sha256(('other' || n % 3000)::bytea)
FROM generate_series(1, 100000) AS n;
INSERT INTO contract_changes SELECT of('other' || n), n, NULL, true
FROM generate_series(1, 100000) AS n;
INSERT INTO built_abis SELECT sha256(('code' || n)::bytea), 'Build' || n, '[]', now()
FROM generate_series(1, {builds}) AS n;
INSERT INTO followed_contracts (address, name, complete_from, is_automatic, implementations)
SELECT of('other' || n), 'c' || n, 0, n < {most_automatic},
    ARRAY[of('many' || n), of('many' || n + 500)]
FROM generate_series(1, {followed}) AS n;
INSERT INTO followed_contracts (address, name, is_automatic, factory)
VALUES (sha256('rule'), 'rule', false, of('other1'));
INSERT INTO followed_children SELECT of('child' || n), sha256('rule'), n
FROM generate_series(1, {many}) AS n;
INSERT INTO contract_event_counts SELECT of('other1'), sha256(n::text::bytea), 1
FROM generate_series(1, {many}) AS n;
INSERT INTO log_emitters SELECT of('other' || n % 1000), n
FROM generate_series(1, 100000) AS n;
ANALYZE contracts, built_abis, followed_contracts, contract_changes, verified_contracts, log_emitters, followed_children, contract_event_counts;
