-- The contracts whose events are tables, by name.
-- params: none
-- returns: address, name, the block from which on all logs are stored, whether it is followed by itself, why
--   older logs are not filled (null: they are, or will be), why views cannot be made (null: they are, or will be),
--   number of views, events of the ABI that are none, logs to be decoded; of children the factory, the signature of its
--   event and how many there are
-- index: followed_contracts_pkey, event_views_by_address, undecoded_events_by_address, followed_children_by_contract
SELECT c.address, c.name, greatest(least(c.complete_from, (SELECT max(b.number) + 1 FROM blocks b)),
    (SELECT r.first_block FROM retention r)), c.is_automatic,
    coalesce(c.problem, CASE WHEN c.complete_from = 9223372036854775807
        THEN 'no contract is followed before all logs of the factory are there' END), c.views_problem,
    (SELECT count(*) FROM event_views v WHERE v.address = c.address), c.events_left_out,
    (SELECT count(*) FROM undecoded_events u WHERE u.address = c.address),
    c.factory, c.named_by->>'event', (SELECT count(*) FROM followed_children n WHERE n.followed_as = c.address)
FROM followed_contracts c
ORDER BY c.name;
