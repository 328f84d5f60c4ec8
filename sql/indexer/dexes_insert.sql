-- The number of an exchange by its name, made where the exchange is new.
-- params: name text
-- returns: dex_id
-- index: dexes_name_key
WITH made AS (
    INSERT INTO dexes (name) VALUES (%(name)s) ON CONFLICT (name) DO NOTHING RETURNING dex_id
)
SELECT dex_id FROM made
UNION ALL
SELECT dex_id FROM dexes WHERE name = %(name)s
LIMIT 1;
