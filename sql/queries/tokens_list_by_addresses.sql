-- Tokens by their addresses.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON text {address: {address, name, symbol, decimals, type,
--   totalSupply, holderCount, transferCount,
--   inconsistentSince and supplyBlock or nulls, logoUrl, unproven}} of those that are known
-- index: tokens_pkey, listed_tokens_pkey
SELECT index_version(), coalesce(json_object_agg(hex(k.address), json_build_object(
    'address', hex(k.address), 'name', k.name, 'symbol', k.symbol, 'decimals', k.decimals,
    'type', k.type, 'totalSupply', token_supply(k)::text, 'holderCount', k.holder_count,
    'transferCount', k.transfer_count, 'inconsistentSince', k.inconsistent_since,
    'supplyBlock', k.supply_block, 'logoUrl', logo_url(l.logo),
    'unproven', ARRAY['name', 'symbol', 'decimals', 'type', 'totalSupply'])), '{}')::text
FROM tokens k
LEFT JOIN listed_tokens l ON l.address = k.address
WHERE k.address = ANY (%(addresses)s) AND k.ended_in IS NULL;
