-- Tokens whose supply is to be read.
-- params: limit integer
-- returns: address
-- index: tokens_stale
SELECT address FROM tokens WHERE supply_block IS NULL ORDER BY address LIMIT %(limit)s;
