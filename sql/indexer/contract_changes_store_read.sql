-- Stores the decimals that tokens had before changes; null where a token had none.
-- params: addresses bytea[], block_numbers bigint[], decimals smallint[]
-- literals: none
-- returns: nothing
-- index: contract_changes_pkey
UPDATE contract_changes c
SET decimals_before = read.decimals, is_read = true
FROM unnest(%(addresses)s::bytea[], %(block_numbers)s::bigint[], %(decimals)s::smallint[])
    AS read (address, block_number, decimals)
WHERE c.address = read.address AND c.block_number = read.block_number;
