-- Exchanges that have pools, those with most trades first. Only the first 1,000 that were indexed are
-- looked at, since any contract may be the factory of an exchange of its own.
-- params: most integer
-- literals: none
-- returns: one row: index version, names as JSON text, how many there are (1,000 at most)
-- index: dexes_pkey
WITH known AS (
    SELECT name, trade_count, dex_id
    FROM dexes
    ORDER BY dex_id ASC
    LIMIT 1000
), page AS (
    SELECT name, trade_count, dex_id
    FROM known
    ORDER BY trade_count DESC, dex_id ASC
    LIMIT %(most)s
)
SELECT index_version(),
    coalesce(json_agg(page.name ORDER BY page.trade_count DESC, page.dex_id ASC), '[]')::text,
    (SELECT count(*) FROM known)
FROM page;
