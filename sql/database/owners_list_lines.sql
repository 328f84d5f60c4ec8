-- The tables of a file of owners' data, whose lines are in owners_lines.
-- params: none
-- returns: name of a table, names of its columns, the number of its rows
-- index: none
SELECT l.line ->> 'table', array_agg(DISTINCT c.name), count(DISTINCT l.ctid)
FROM owners_lines l
CROSS JOIN LATERAL json_object_keys(l.line -> 'row') AS c (name)
GROUP BY l.line ->> 'table';
