-- The views of events of followed contracts.
-- params: address bytea null
-- literals: none
-- returns: address, name of the contract, id and name of the view, event, columns and forms as JSON texts; null: of all
-- index: event_views_by_address, followed_contracts_pkey
SELECT v.address, c.name, v.id, v.view_name, v.event, v.columns::text, v.forms::text
FROM event_views v
JOIN followed_contracts c ON c.address = v.address
WHERE %(address)s IS NULL OR v.address = %(address)s
ORDER BY c.name, v.view_name;
