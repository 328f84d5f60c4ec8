-- One token, with what a page about it needs besides its record.
-- params: address bytea
-- plan depends on: nothing
-- returns: no row, or the record as JSON text
-- index: tokens_pkey, blocks_pkey
SELECT (token_record(k)::jsonb || jsonb_build_object(
    'transferCount', k.transfer_count,
    'firstSeen', (SELECT iso(b.timestamp) FROM blocks b WHERE b.number = k.block_number),
    'eventsConsistent', k.negative_holder_count = 0))::text
FROM tokens k
WHERE k.address = %(address)s;
