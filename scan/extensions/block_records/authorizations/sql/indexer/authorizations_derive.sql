-- Stores which authorizations of blocks already written took effect.
-- params: span block_range
-- returns: nothing
-- index: authorizations_pkey, authorizations_of_authority, authorizations_in_effect, transactions_by_from,
--   internal_transfers_by_from, transactions_pkey, blocks_pkey, contracts_pkey
UPDATE authorizations a
SET authority_nonce = c.authority_nonce,
    is_valid = c.is_valid
FROM authorizations_changes(%(span)s::block_range) c
WHERE c.ordinal = a.ordinal;
