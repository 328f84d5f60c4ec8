-- The events of a followed contract: what they are, and how many logs have each of their first topics.
-- params: address bytea, most integer
-- literals: none
-- returns: one row: index version, the contract's name (null: it is not followed), the block from which on it is
--   complete, why views cannot be made (null: they are), events of the ABI that are no views, JSON array of
--   {view, event, columns, forms}, JSON object of counts by first topic, the factory of which it is a child, JSON
--   array of {name, event, argument, contractCount (null: more than most)} of its own children
-- index: followed_contracts_pkey, event_views_by_address, contract_event_counts_pkey,
--   undecoded_events_by_address, contract_events_pkey, followed_children_pkey, followed_children_by_contract, followed_contracts_by_factory
SELECT index_version(), c.name, events_complete_from(c), c.views_problem, c.events_left_out, (
        SELECT json_list(string_agg(json_build_object('view', v.view_name, 'event', v.event, 'columns', v.columns,
            'forms', v.forms)::text, ',' ORDER BY v.view_name))
        FROM event_views v
        WHERE v.address = c.address), (
        SELECT coalesce(json_object_agg(encode(n.topic0, 'hex'), n.logs), '{}')::text
        FROM contract_event_counts n
        WHERE n.address = %(address)s AND n.topic0 IN (
            SELECT decode(unnest(v.topics), 'hex') FROM event_views v WHERE v.address = c.address)), hex(c.factory), (
        SELECT json_list(string_agg(json_build_object('name', o.name, 'event', o.named_by->>'event',
            'argument', o.named_by->>'argument', 'contractCount', (
                SELECT nullif(count(*), %(most)s + 1)
                FROM (SELECT FROM followed_children k WHERE k.followed_as = o.address LIMIT %(most)s + 1) AS counted
            ))::text, ',' ORDER BY o.name))
        FROM followed_contracts o
        WHERE o.factory = %(address)s)
FROM (SELECT) AS one
LEFT JOIN followed_contracts c ON c.address = followed_as(%(address)s);
