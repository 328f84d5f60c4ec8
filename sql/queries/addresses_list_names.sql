-- The names to show beside addresses on a page.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON text {address: {"label": text or null, "token": null or its
--   name, symbol, decimals, type, wraps, itemType and logo, "contract": a verified contract's name or null, "match":
--   full or partial, "pool": null or its exchange and its tokens with their symbols and decimals}} of
--   those that have any
-- index: labels_pkey, tokens_pkey, listed_tokens_pkey, contracts_pkey, pools_pkey, dexes_pkey,
--   verified_contracts_by_code_hash
SELECT index_version(), (
    SELECT coalesce(json_object_agg(hex(named.address), json_build_object(
        'label', named.label, 'token', named.token, 'contract', named.contract,
        'match', named.match, 'pool', named.pool)), '{}')::text
    FROM (
        SELECT requested.address,
            (SELECT l.label FROM labels l WHERE l.address = requested.address) AS label,
            (SELECT json_build_object('name', k.name, 'symbol', k.symbol,
                'decimals', k.decimals, 'type', k.type, 'wraps', k.wraps_since IS NOT NULL,
                'itemType', k.item_type,
                'logoUrl', logo_url(t.logo),
                'namesake', (SELECT n.record FROM namesake_of(k) AS n))
            FROM tokens k
            LEFT JOIN listed_tokens t ON t.address = k.address
            WHERE k.address = requested.address AND k.ended_in IS NULL) AS token,
            v.contract_name AS contract,
            v.match,
            (SELECT json_build_object('dex', x.name, 'token0', hex(p.token0), 'token1', hex(p.token1),
                'token0Symbol', k0.symbol, 'token0Decimals', k0.decimals,
                'token1Symbol', k1.symbol, 'token1Decimals', k1.decimals)
            FROM pools p
            JOIN dexes x ON x.dex_id = p.dex_id
            LEFT JOIN tokens k0 ON k0.address = p.token0
            LEFT JOIN tokens k1 ON k1.address = p.token1
            WHERE p.address = requested.address) AS pool
        FROM unnest(%(addresses)s) AS requested (address)
        LEFT JOIN LATERAL verification_of(requested.address) AS v ON v.match <> 'runtime'
    ) AS named
    WHERE named.label IS NOT NULL OR named.token IS NOT NULL OR named.contract IS NOT NULL
        OR named.pool IS NOT NULL);
