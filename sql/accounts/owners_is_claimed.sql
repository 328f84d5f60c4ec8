-- Tells whether an address is claimed: whether it has, or once had, an API key.
-- params: owner bytea
-- returns: boolean
-- index: api_keys_signed_once
SELECT EXISTS (SELECT FROM api_keys WHERE owner_address = %(owner)s);
