-- Tokens by their addresses. With `ended`, those that are none any more too, as they were before their end.
-- params: addresses bytea[], ended boolean
-- literals: none
-- returns: one row: index version, JSON text {address: {address, name, symbol, decimals, type,
--   totalSupply, holderCount, transferCount,
--   isMarked, inconsistentSince and supplyBlock or nulls, logoUrl, unproven}} of those that are known
-- index: tokens_pkey, listed_tokens_pkey
SELECT index_version(), coalesce(json_object_agg(hex(k.address), json_build_object('address', hex(k.address),
    'name', k.name, 'symbol', k.symbol, 'decimals', k.decimals, 'type', k.type,
    'totalSupply', token_supply(k)::text, 'holderCount', counted_holders(k), 'transferCount', k.transfer_count,
    'isMarked', is_marked(k), 'inconsistentSince', marked_since(k), 'supplyBlock', supply_block_of(k), 'logoUrl', logo_url(l.logo),
    'unproven', ARRAY['name', 'symbol', 'decimals', 'type', 'totalSupply'])), '{}')::text
FROM tokens t
CROSS JOIN jsonb_populate_record(t, CASE WHEN t.ended_in IS NOT NULL THEN t.earlier_lives -> -1 END) AS k
LEFT JOIN listed_tokens l ON l.address = t.address
WHERE t.address = ANY (%(addresses)s) AND (%(ended)s OR t.ended_in IS NULL);
