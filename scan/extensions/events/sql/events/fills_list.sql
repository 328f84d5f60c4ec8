-- The contracts of which logs of older blocks may be missing.
-- params: none
-- returns: address, the block from which on all its logs are stored, the oldest block whose rows are kept
-- index: followed_contracts_pkey, blocks_pkey
SELECT c.address, c.complete_from, oldest.number
FROM followed_contracts c
CROSS JOIN LATERAL (
    SELECT coalesce((SELECT r.first_block FROM retention r), (SELECT min(b.number) FROM blocks b))
) AS oldest (number)
WHERE c.complete_from > oldest.number AND c.complete_from < 9223372036854775807
    AND NOT EXISTS (SELECT FROM table_rebuilds r WHERE r.name = 'contract_events')
ORDER BY c.added_at, c.address;
