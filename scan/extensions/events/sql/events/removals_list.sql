-- The contracts that are followed no more and have logs or children, these before their factory.
-- params: none
-- returns: address, of children as followed_contracts had it, and whether the hash alone is left
-- index: followed_children_by_contract, table_rebuilds_pkey, followed_contracts_pkey
SELECT u.address, 1 = (SELECT count(*) FROM (SELECT FROM followed_children c WHERE c.followed_as = u.address LIMIT 2) AS o)
FROM unfollowed_contracts u
WHERE EXISTS (SELECT FROM followed_children c WHERE c.followed_as = u.address)
    AND NOT EXISTS (SELECT FROM table_rebuilds r WHERE r.name = 'contract_events')
    AND NOT EXISTS (SELECT FROM followed_contracts c WHERE c.address = u.address) -- restored (scan restore --owners)
ORDER BY octet_length(u.address) DESC, u.address;
