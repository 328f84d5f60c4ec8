-- The children of factories that are followed by themselves, too, as a build has their code.
-- params: none
-- returns: addresses
-- index: followed_children_pkey, table_rebuilds_pkey
SELECT c.address
FROM followed_contracts c
JOIN followed_children n ON n.address = c.address
WHERE c.is_automatic AND NOT EXISTS (SELECT FROM table_rebuilds r WHERE r.name = 'contract_events');
