-- The results of a search: at most 20, the best first. Exact names come first, then names that begin with
-- the text, then names that contain it: of the 1,000 tokens with most holders, of labels at the beginning
-- of a word, and of verified contracts as a word; each by number of holders, tokens with the name of another one last.
-- params: text text, number bigint null, hash bytea null, address bytea null
-- literals: none
-- returns: one row: index version, JSON text of the records, count in it, whether
--   queries/search_list_similar can be asked for more
-- index: blocks_pkey, addresses_pkey, blocks_hash_key, transactions_by_hash, addresses_pkey, tokens_pkey,
--   labels_by_text, labels_by_word, tokens_by_symbol, tokens_by_name, token_ranks_by_holders,
--   tokens_by_skeleton, tokens_by_skeleton_of_name, listed_tokens_by_symbol,
--   verified_contracts_by_name, verified_contracts_by_word, labels_pkey, contracts_pkey, verified_contracts_by_code_hash,
--   pools_pkey
WITH search AS (
    SELECT lower(%(text)s) AS prefix
), originals AS MATERIALIZED (
    (SELECT k.address
    FROM tokens k
    WHERE skeleton(k.symbol) = skeleton(%(text)s) AND k.contradicted IS NULL AND k.ended_in IS NULL
        AND lower(k.symbol) = lower(%(text)s)
    ORDER BY k.block_number, k.log_index, k.address
    LIMIT 8)
    UNION
    SELECT l.address
    FROM listed_tokens l
    WHERE skeleton(l.symbol) = skeleton(%(text)s)
), named (type, address, name, symbol, holders) AS (
    (SELECT 'token', k.address, k.name, k.symbol, counted_holders(k)
    FROM originals o
    JOIN tokens k ON k.address = o.address)
    UNION
    (SELECT 'token', k.address, k.name, k.symbol, counted_holders(k)
    FROM tokens k
    WHERE lower(k.symbol) ~>=~ lower(%(text)s)
        AND lower(k.symbol) ~<~ (lower(%(text)s) || chr(1114111))
    ORDER BY lower(k.symbol) USING ~<~
    LIMIT 200)
    UNION
    (SELECT 'token', k.address, k.name, k.symbol, counted_holders(k)
    FROM tokens k
    WHERE lower(k.name) ~>=~ lower(%(text)s)
        AND lower(k.name) ~<~ (lower(%(text)s) || chr(1114111))
    ORDER BY lower(k.name) USING ~<~
    LIMIT 200)
    UNION
    SELECT 'token', k.address, k.name, k.symbol, k.holders
    FROM search, (
        SELECT r.address, r.name, r.symbol, r.holders
        FROM token_ranks r
        ORDER BY r.holders DESC, r.address DESC
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
        'exact', counted_holders(k)
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
), best AS MATERIALIZED (
    SELECT m.rank, m.type, m.value, m.address, m.name, m.symbol, m.match, m.holders
    FROM matches m
    ORDER BY m.rank ASC, m.address IN (SELECT o.address FROM originals o) DESC NULLS LAST, m.holders DESC NULLS LAST,
        m.type ASC, m.value ASC
    LIMIT 40
), page AS (
    SELECT b.rank, b.type, b.value, b.address, b.name, b.symbol, b.match, b.holders, k.block_number, n.record
    FROM best b
    LEFT JOIN tokens k ON k.address = b.address AND b.type = 'token'
    LEFT JOIN LATERAL (SELECT o.record FROM namesake_of(k) AS o WHERE k.address IS NOT NULL) AS n ON true
    ORDER BY b.rank ASC, n.record IS NOT NULL, b.holders DESC NULLS LAST, b.type ASC, b.value ASC
    LIMIT 20
)
SELECT index_version(),
    json_list(string_agg(
        search_record(page.type, page.value, page.name, page.symbol, page.match, page.holders,
            (SELECT s.seen_at FROM first_seen_at(page.address, page.block_number) AS s WHERE page.type = 'token'),
            CASE WHEN page.address IS NOT NULL
                THEN EXISTS (SELECT FROM verification_of(page.address) WHERE match <> 'runtime') END,
            page.record)::text, ','
        ORDER BY page.rank ASC, page.record IS NOT NULL, page.holders DESC NULLS LAST, page.type ASC,
            page.value ASC)),
    count(*),
    to_regclass('tokens_by_similar_name') IS NOT NULL
FROM page;
