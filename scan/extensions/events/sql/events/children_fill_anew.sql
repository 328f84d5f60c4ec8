-- Has the logs of rules' children filled from the head downwards, as some are new; those that were another rule's lose
-- theirs until then. The indexer has to be kept from writing.
-- params: rules bytea[], moved bytea[]
-- returns: nothing
-- index: contract_events_by_topic0, followed_contracts_pkey, blocks_pkey
WITH former AS (
    DELETE FROM contract_events WHERE address = ANY (%(moved)s::bytea[])
)
UPDATE followed_contracts SET complete_from = (SELECT max(b.number) + 1 FROM blocks b)
WHERE address = ANY (%(rules)s::bytea[]);
