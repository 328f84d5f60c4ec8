-- How many contracts were created in a block or later.
-- params: block_number bigint
-- literals: none
-- returns: one row: index version, the count
-- index: contract_creations_pkey
SELECT index_version(), (
    SELECT count(*) FROM contract_creations n WHERE n.ordinal >= first_ordinal_in(%(block_number)s));
