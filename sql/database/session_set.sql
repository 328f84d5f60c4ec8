-- Settings of this session: those given with the connection itself do not pass through a pooler.
-- params: names text[], values text[]
-- returns: rows of nothing of use
-- index: none
SELECT set_config(s.name, s.value, false)
FROM unnest(%(names)s::text[], %(values)s::text[]) AS s(name, value);
