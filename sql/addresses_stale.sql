-- Addresses whose balance is to be read.
-- params: limit integer
-- returns: address
-- index: addresses_stale
SELECT address FROM addresses WHERE balance_block IS NULL ORDER BY address LIMIT %(limit)s;
