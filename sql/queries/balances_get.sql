-- The balances of addresses where they are stored as of the newest block, which is named, too; and as
-- of an older one where nothing indexed has changed them since.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON array of balances as text or null in the order asked,
--   number of the newest block (null where none is indexed), such an array of those unchanged
-- index: addresses_pkey, blocks_pkey, blocks_untraced
SELECT index_version(),
    (SELECT json_agg((
        SELECT a.balance::text FROM addresses a
        WHERE a.address = asked.address AND a.balance_block = head.number) ORDER BY asked.place)
    FROM unnest(%(addresses)s::bytea[]) WITH ORDINALITY AS asked (address, place)),
    head.number,
    (SELECT json_agg((
        SELECT a.balance::text FROM addresses a
        WHERE a.address = asked.address
            AND a.balance_block >= newest_untraced_block()) ORDER BY asked.place)
    FROM unnest(%(addresses)s::bytea[]) WITH ORDINALITY AS asked (address, place))
FROM (SELECT 1) AS always
LEFT JOIN (SELECT b.number FROM blocks b ORDER BY b.number DESC LIMIT 1) AS head ON true;
