-- Whether an address stands in any indexed block.
-- params: address bytea
-- literals: none
-- returns: one row: index version, boolean
-- index: addresses_pkey
SELECT index_version(), EXISTS (SELECT FROM addresses a WHERE a.address = %(address)s);
