-- Stores tokens of a list, replacing those of another list. A logo stays as long as its URI does.
-- params: list text, addresses bytea[], names text[], symbols text[], decimals smallint[],
--   logo_uris text[]
-- returns: nothing
-- index: listed_tokens_pkey
INSERT INTO listed_tokens AS t (address, list, name, symbol, decimals, logo_uri)
SELECT n.address, %(list)s::text, n.name, n.symbol, n.decimals, n.logo_uri
FROM unnest(%(addresses)s::bytea[], %(names)s::text[], %(symbols)s::text[],
    %(decimals)s::smallint[], %(logo_uris)s::text[])
    AS n (address, name, symbol, decimals, logo_uri)
ON CONFLICT (address) DO UPDATE
SET list = excluded.list, name = excluded.name, symbol = excluded.symbol,
    decimals = excluded.decimals, logo_uri = excluded.logo_uri,
    logo = CASE WHEN t.logo_uri = excluded.logo_uri THEN t.logo END;
