-- Has the logs of child contracts that are new, or another rule's than before, filled from the head downwards. The indexer
-- has to be kept from writing.
-- params: addresses bytea[]
-- returns: nothing
-- index: followed_children_pkey, contract_events_by_topic0, followed_contracts_pkey, blocks_pkey
WITH former AS (
    DELETE FROM contract_events WHERE address = ANY (%(addresses)s::bytea[])
)
UPDATE followed_contracts SET complete_from = (SELECT max(b.number) + 1 FROM blocks b)
WHERE address IN (SELECT c.followed_as FROM followed_children c WHERE c.address = ANY (%(addresses)s::bytea[]));
