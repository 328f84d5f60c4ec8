-- Deletes the answers of a source, so that it is asked again.
-- params: source text
-- returns: nothing
-- index: contract_claims_pkey
DELETE FROM contract_claims WHERE source = %(source)s AND outcome <> 'verified';
