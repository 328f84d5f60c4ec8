-- The names of a followed contract's events, for links.
-- params: address bytea, limit integer
-- literals: none
-- returns: one row: index version, JSON array of [name of the view without the contract's, event]
-- index: event_views_by_address, followed_contracts_pkey
SELECT index_version(), (
    SELECT coalesce(json_agg(json_build_array(n.name, n.event) ORDER BY n.name), '[]')
    FROM (
        SELECT substr(v.view_name, length(c.name) + 2) AS name, v.event
        FROM followed_contracts c
        JOIN event_views v ON v.address = c.address
        WHERE c.address = followed_as(%(address)s)
        ORDER BY v.view_name
        LIMIT %(limit)s
    ) AS n);
