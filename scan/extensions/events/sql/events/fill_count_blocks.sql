-- How many blocks before one an address emitted logs in.
-- params: address bytea, block_from bigint, before bigint
-- returns: one row: a number
-- index: log_emitters_pkey
SELECT count(*) FROM log_emitters e
WHERE e.address = %(address)s AND e.block_number >= %(block_from)s AND e.block_number < %(before)s;
