-- Follows a contract from the next block on, also a child of a factory, which it is no more then:
-- its logs are replaced as they are filled. The indexer has to be kept from writing (indexer/writes_lock).
-- params: address bytea, name text, abi text null, automatic boolean, factory bytea null, named_by text null
-- returns: one row, the block from which on its logs are stored, later one of children; none where no block is indexed
-- index: blocks_pkey, followed_children_pkey
WITH head AS (
    SELECT b.number FROM blocks b ORDER BY b.number DESC LIMIT 1
), renewed AS (
    UPDATE chain SET followed_version = followed_version + 1 WHERE EXISTS (SELECT FROM head)
), wanted AS (
    DELETE FROM unfollowed_contracts WHERE address = %(address)s
), child AS (
    DELETE FROM followed_children WHERE address = %(address)s AND EXISTS (SELECT FROM head)
)
INSERT INTO followed_contracts (address, name, complete_from, is_automatic, abi, factory, named_by)
SELECT %(address)s, %(name)s,
    CASE WHEN %(factory)s::bytea IS NULL THEN head.number + 1 ELSE 9223372036854775807 END,
    %(automatic)s, %(abi)s::json, %(factory)s, %(named_by)s::jsonb
FROM head
RETURNING complete_from;
