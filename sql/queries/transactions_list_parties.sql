-- The addresses that the sentence about a transaction names, as it describes them.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON text {address: {"label": text or null, "contract": a verified
--   contract's name or null, "isContract": whether code is known there, "token": null or its name,
--   symbol, decimals, type and whether it wraps the coin, "pool": null or its exchange and tokens}}
-- index: labels_pkey, tokens_pkey, contracts_pkey, verified_contracts_by_code_hash, pools_pkey,
--   dexes_pkey
SELECT index_version(), (
    SELECT coalesce(json_object_agg(hex(requested.address), json_build_object(
        'label', (SELECT l.label FROM labels l WHERE l.address = requested.address),
        'contract', (
            SELECT v.contract_name
            FROM verification_of(requested.address) AS v
            WHERE v.match <> 'runtime'),
        'isContract', code.code_hash IS NOT NULL,
        'token', (
            SELECT json_build_object('name', k.name, 'symbol', k.symbol, 'decimals', k.decimals,
                'type', k.type, 'wraps', k.wraps,
                'largerNamesake', (SELECT hex(n.address)
                    FROM larger_namesake(k.symbol, k.holder_count, k.address) AS n))
            FROM tokens k
            WHERE k.address = requested.address),
        'pool', (
            SELECT json_build_object('dex', x.name, 'token0', hex(p.token0), 'token1', hex(p.token1))
            FROM pools p
            JOIN dexes x ON x.dex_id = p.dex_id
            WHERE p.address = requested.address))), '{}')::text
    FROM unnest(%(addresses)s) AS requested (address)
    LEFT JOIN contract_at(requested.address) AS code ON true);
