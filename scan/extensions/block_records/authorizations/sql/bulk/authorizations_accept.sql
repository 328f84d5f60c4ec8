-- Stores which authorizations took effect, judged by all rows that a bulk backfill loaded.
-- params: none
-- returns: nothing
-- index: authorizations_pkey
UPDATE authorizations a
SET authority_nonce = c.authority_nonce,
    is_valid = c.is_valid
FROM authorizations_changes(all_blocks()) c
WHERE c.ordinal = a.ordinal;
