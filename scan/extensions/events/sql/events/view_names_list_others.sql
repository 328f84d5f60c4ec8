-- The names of the views of other contracts than one.
-- params: address bytea
-- returns: names
-- index: none
SELECT v.view_name FROM event_views v WHERE v.address <> %(address)s;
