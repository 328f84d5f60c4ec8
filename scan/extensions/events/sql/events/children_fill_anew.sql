-- Follows rules' children from the next block on, and has their older logs filled, as some are new or were another
-- rule's, whose rows are replaced. The indexer has to be kept from writing.
-- params: rules bytea[]
-- returns: nothing
-- index: followed_contracts_pkey, blocks_pkey
WITH renewed AS (
    UPDATE chain SET followed_version = followed_version + 1
)
UPDATE followed_contracts SET complete_from = (SELECT max(b.number) + 1 FROM blocks b)
WHERE address = ANY (%(rules)s::bytea[]);
