-- Deletes what is stored of blocks, which is stored again: SCAN_BODIES may have been on, off, and on again.
-- params: block_from bigint, block_to bigint
-- returns: nothing
-- index: block_bodies_pkey
DELETE FROM block_bodies WHERE block_number BETWEEN %(block_from)s AND %(block_to)s;
