-- Follows the children of factories from the next block on. The indexer has to be kept from writing.
-- params: children bytea[]
-- returns: nothing
-- index: followed_contracts_pkey, blocks_pkey
WITH renewed AS (
    UPDATE chain SET followed_version = followed_version + 1
)
UPDATE followed_contracts SET complete_from = (SELECT max(b.number) + 1 FROM blocks b)
WHERE address = ANY (%(children)s::bytea[]);
