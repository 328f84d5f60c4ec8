-- Addresses whose balances are to be read from the node.
-- params: limit integer
-- literals: limit
-- returns: address
-- index: addresses_by_balance_block
SELECT address FROM addresses WHERE balance_stale LIMIT %(limit)s;
