-- How codes pass calls on, by their hashes, and what traces show of that at addresses up to blocks.
-- params: code_hashes bytea[], addresses bytea[], block_numbers bigint[]
-- returns: for each, in order: delegation, delegated calls (JSON)
-- index: codes_pkey, verified_contracts_by_code_hash, delegated_calls_pkey, blocks_pkey
SELECT delegation_of(c),
    CASE WHEN c.delegation LIKE 'other%%' THEN delegated_calls_of(requested.address, requested.block_number) END
FROM unnest(%(code_hashes)s::bytea[], %(addresses)s::bytea[], %(block_numbers)s::bigint[])
    WITH ORDINALITY AS requested (code_hash, address, block_number, place)
LEFT JOIN codes c ON c.code_hash = requested.code_hash
ORDER BY requested.place;
