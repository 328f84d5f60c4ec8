-- Those of some contracts that are children of factories.
-- params: addresses bytea[]
-- returns: address, and the block from which on contract_events has its logs
-- index: followed_children_pkey, followed_contracts_pkey
SELECT c.address, greatest(c.block_number, f.complete_from)
FROM followed_children c
JOIN followed_contracts f ON f.address = c.followed_as
WHERE c.address = ANY (%(addresses)s::bytea[]);
