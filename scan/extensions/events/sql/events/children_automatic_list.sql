-- The children of factories that are followed by themselves, too, as a build has their code.
-- params: none
-- returns: address, and that of the rule in followed_contracts
-- index: followed_children_pkey, table_rebuilds_pkey
SELECT c.address, n.followed_as
FROM followed_contracts c
JOIN followed_children n ON n.address = c.address
WHERE c.is_automatic AND NOT EXISTS (SELECT FROM table_rebuilds r WHERE r.name = 'contract_events');
