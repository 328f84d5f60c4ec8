-- The results of a search: at most 20, the best first. Exact names come first, then names that begin with
-- the text, then names that contain it: of the 1,000 tokens with most holders, of labels at the beginning
-- of a word, and of verified contracts as a word; each by number of holders.
-- params: text text, number bigint null, hash bytea null, address bytea null
-- literals: none
-- returns: one row: index version, JSON text of the records, count in it, whether
--   queries/search_list_similar can be asked for more
-- index: blocks_pkey, addresses_pkey, blocks_hash_key, transactions_by_hash, addresses_pkey, tokens_pkey,
--   labels_by_text, labels_by_word, tokens_by_symbol, tokens_by_name, tokens_by_holder_count,
--   verified_contracts_by_name, verified_contracts_by_word, labels_pkey, contracts_pkey, verified_contracts_by_code_hash,
--   pools_pkey
WITH search AS (
    SELECT lower(%(text)s) AS prefix
), named (type, address, name, symbol, holders) AS (
    (SELECT 'token', k.address, k.name, k.symbol, k.holder_count
    FROM tokens k
    WHERE lower(k.symbol) ~>=~ lower(%(text)s)
        AND lower(k.symbol) ~<~ (lower(%(text)s) || chr(1114111))
    ORDER BY lower(k.symbol) USING ~<~
    LIMIT 200)
    UNION
    (SELECT 'token', k.address, k.name, k.symbol, k.holder_count
    FROM tokens k
    WHERE lower(k.name) ~>=~ lower(%(text)s)
        AND lower(k.name) ~<~ (lower(%(text)s) || chr(1114111))
    ORDER BY lower(k.name) USING ~<~
    LIMIT 200)
    UNION
    SELECT 'token', k.address, k.name, k.symbol, k.holder_count
    FROM search, (
        SELECT address, name, symbol, holder_count
        FROM tokens
        WHERE ended_in IS NULL
        ORDER BY holder_count DESC, address DESC
        LIMIT 1000) AS k
    WHERE strpos(lower(k.name), search.prefix) > 0 OR strpos(lower(k.symbol), search.prefix) > 0
    UNION
    (SELECT 'address', l.address, l.label, NULL, NULL::bigint
    FROM labels l
    WHERE lower(l.label) ~>=~ lower(%(text)s)
        AND lower(l.label) ~<~ (lower(%(text)s) || chr(1114111))
    ORDER BY lower(l.label) USING ~<~
    LIMIT 100)
    UNION
    (SELECT 'address', l.address, l.label, NULL, NULL::bigint
    FROM labels l
    WHERE words_of(l.label) @@ search_words(%(text)s, true)
    LIMIT 100)
    UNION
    (SELECT 'contract', v.address, v.contract_name, NULL, NULL::bigint
    FROM verified_contracts v
    WHERE lower(v.contract_name) ~>=~ lower(%(text)s)
        AND lower(v.contract_name) ~<~ (lower(%(text)s) || chr(1114111))
        AND v.is_indexed AND v.match <> 'runtime'
    ORDER BY lower(v.contract_name) USING ~<~
    LIMIT 100)
    UNION
    (SELECT 'contract', v.address, v.contract_name, NULL, NULL::bigint
    FROM verified_contracts v
    WHERE words_of(v.contract_name) @@ search_words(%(text)s, false)
        AND v.is_indexed AND v.match <> 'runtime'
    LIMIT 100)
), matches (rank, type, value, address, name, symbol, match, holders) AS (
    SELECT 0, 'block', b.number::text, NULL::bytea, NULL, NULL, 'exact', NULL::bigint
    FROM blocks b
    WHERE b.number = %(number)s
    UNION ALL
    SELECT 0, 'block', b.number::text, NULL, NULL, NULL, 'exact', NULL
    FROM blocks b
    WHERE b.hash = %(hash)s
    UNION ALL
    (SELECT 0, 'transaction', hex(t.hash), NULL, NULL, NULL, 'exact', NULL
    FROM transactions t
    WHERE t.hash = %(hash)s AND t.block_number >= first_kept_block()
    LIMIT 1)
    UNION ALL
    SELECT 0, CASE WHEN k.address IS NULL THEN 'address' ELSE 'token' END, hex(a.address), a.address,
        coalesce((SELECT l.label FROM labels l WHERE l.address = a.address), k.name), k.symbol,
        'exact', k.holder_count
    FROM addresses a
    LEFT JOIN tokens k ON k.address = a.address AND k.ended_in IS NULL
    WHERE a.address = %(address)s
    UNION ALL
    SELECT CASE match WHEN 'exact' THEN 1 WHEN 'prefix' THEN 2 ELSE 3 END, type, hex(address),
        address, name, symbol, match, holders
    FROM (
        SELECT n.type, n.address, n.name, n.symbol, n.holders,
            CASE WHEN search.prefix IN (lower(n.name), lower(n.symbol)) THEN 'exact'
                WHEN starts_with(lower(n.name), search.prefix)
                    OR starts_with(lower(n.symbol), search.prefix) THEN 'prefix'
                ELSE 'similar' END AS match
        FROM named n, search
        WHERE search.prefix <> ''
    ) AS compared
), page AS (
    SELECT rank, type, value, address, name, symbol, match, holders
    FROM matches
    ORDER BY rank ASC, holders DESC NULLS LAST, type ASC, value ASC
    LIMIT 20
)
SELECT index_version(),
    json_list(string_agg(
        search_record(page.type, page.value, page.name, page.symbol, page.match, page.holders,
            CASE WHEN page.type = 'token' THEN (
                SELECT s.seen_at
                FROM tokens k
                CROSS JOIN first_seen_at(k.address, k.block_number) AS s
                WHERE k.address = page.address) END,
            CASE WHEN page.address IS NOT NULL
                THEN EXISTS (SELECT FROM verification_of(page.address) WHERE match <> 'runtime') END,
            CASE WHEN page.type = 'token' THEN (
                SELECT n.address
                FROM larger_namesake(page.symbol, page.name, page.holders, page.address) AS n) END)::text, ','
        ORDER BY page.rank ASC, page.holders DESC NULLS LAST, page.type ASC, page.value ASC)),
    count(*),
    to_regclass('tokens_by_similar_name') IS NOT NULL
FROM page;
