-- The numbers of exchanges.
-- params: none
-- returns: name, dex_id
-- index: none
SELECT name, dex_id FROM dexes;
