-- The kept addresses, with the block at which the lists of each begin.
-- params: none
-- returns: address text, complete_from
-- index: kept_addresses_pkey
SELECT hex(address), complete_from FROM kept_addresses ORDER BY address;
