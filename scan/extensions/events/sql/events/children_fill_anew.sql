-- Follows children from the next block on, and has their older logs filled: of rules that are due, and of those that are
-- followed already, as some children are new or were another rule's, whose logs are replaced. The indexer has to be kept
-- from writing.
-- params: rules bytea[], due bytea[]
-- returns: nothing
-- index: followed_contracts_pkey, blocks_pkey
WITH renewed AS (
    UPDATE chain SET followed_version = followed_version + 1
)
UPDATE followed_contracts SET complete_from = (SELECT max(b.number) + 1 FROM blocks b)
WHERE address = ANY (%(due)s::bytea[]) OR (address = ANY (%(rules)s::bytea[]) AND complete_from < 9223372036854775807);
