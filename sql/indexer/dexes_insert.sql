-- The numbers of exchanges by their names, made for those that are new.
-- params: names text[]
-- literals: none
-- returns: name, dex_id for each
-- index: dexes_name_key
WITH requested AS (
    SELECT name FROM unnest(%(names)s::text[]) AS requested (name)
), made AS (
    INSERT INTO dexes (name)
    SELECT name FROM requested
    WHERE NOT EXISTS (SELECT FROM dexes d WHERE d.name = requested.name)
    RETURNING name, dex_id
)
SELECT name, dex_id FROM made
UNION ALL
SELECT d.name, d.dex_id FROM requested JOIN dexes d USING (name);
