-- The events of a followed contract with a name, its own or that of its view, a first topic, or a signature of
-- an anonymous event.
-- params: address bytea, name text null, topic text null, signature text null
-- literals: none
-- returns: one row: index version, its address in followed_contracts, the contract's name (null: it is not followed), the block from which on it is
--   complete, JSON array of {id, view, event, columns, forms}
-- index: followed_contracts_pkey, event_views_by_address, undecoded_events_by_address, contract_events_pkey
SELECT index_version(), c.address, c.name, events_complete_from(c), (
    SELECT json_list(string_agg(json_build_object('id', v.id, 'view', v.view_name, 'event', v.event, 'columns', v.columns,
        'forms', v.forms)::text, ',' ORDER BY v.view_name))
    FROM event_views v
    WHERE v.address = c.address AND (v.event = %(name)s OR v.view_name = c.name || '_' || %(name)s
        OR %(topic)s = ANY (v.topics)
        OR %(signature)s IS NOT NULL AND v.event = split_part(%(signature)s, '(', 1) AND '' = ANY (v.topics)))
FROM (SELECT) AS one
LEFT JOIN followed_contracts c ON c.address = followed_as(%(address)s);
