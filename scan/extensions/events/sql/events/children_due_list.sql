-- The children of factories whose logs are all there, while those of the children are not followed yet.
-- params: none
-- returns: addresses in followed_contracts
-- index: followed_contracts_pkey, blocks_pkey
SELECT c.address
FROM followed_contracts c
JOIN followed_contracts f ON f.address = c.factory
WHERE c.complete_from = 9223372036854775807
    AND f.complete_from <= coalesce((SELECT r.first_block FROM retention r), (SELECT min(b.number) FROM blocks b))
    AND NOT EXISTS (SELECT FROM table_rebuilds r WHERE r.name = 'contract_events');
