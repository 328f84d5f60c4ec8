-- Whether an address is claimed: it has an active key.
-- params: owner bytea
-- returns: boolean
-- index: api_keys_signed_once
SELECT EXISTS (SELECT FROM api_keys WHERE owner_address = %(owner)s AND active);
