-- Addresses whose balance is to be read.
-- params: limit integer
-- returns: address
-- index: addresses_by_balance_block
SELECT address FROM addresses WHERE balance_block IS NULL LIMIT %(limit)s;
