-- A key of a wallet, as lists show it.
-- params: id bigint, owner bytea null
-- returns: no row for one that does not exist, is of no wallet, or of another than the owner, if that is given; else the
--   record as JSON text
-- index: api_keys_pkey
SELECT api_key_record(k)::text
FROM api_keys k
WHERE k.id = %(id)s AND k.owner_address = coalesce(%(owner)s, k.owner_address);
