-- Follows the contracts of this transaction from the next block on, as events/contract_add does.
-- params: newest_block bigint
-- returns: nothing
-- index: blocks_pkey
WITH head AS (
    SELECT b.number FROM blocks b ORDER BY b.number DESC LIMIT 1
), renewed AS (
    UPDATE chain SET followed_version = followed_version + 1
    WHERE EXISTS (SELECT FROM followed_contracts c WHERE c.xmin = pg_current_xact_id()::xid)
        AND %(newest_block)s IS NOT NULL
)
UPDATE followed_contracts c
SET complete_from = CASE WHEN c.factory IS NULL THEN coalesce((SELECT head.number + 1 FROM head), 0)
    ELSE 9223372036854775807 END
WHERE c.xmin = pg_current_xact_id()::xid;
