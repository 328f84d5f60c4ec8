-- The contracts whose events are tables, by name.
-- params: none
-- returns: address, name, the block from which on all logs are stored, whether it is followed by itself, problem
--   (null: none), number of views
-- index: followed_contracts_pkey, event_views_by_address
SELECT c.address, c.name, greatest(c.complete_from, (SELECT r.first_block FROM retention r)), c.is_automatic,
    c.problem, (SELECT count(*) FROM event_views v WHERE v.address = c.address)
FROM followed_contracts c
ORDER BY c.name;
