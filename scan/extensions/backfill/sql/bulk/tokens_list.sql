-- Tokens with their types, and whether each was first rejected as a token.
-- params: none
-- returns: address, type, wraps, block_number, was_rejected
-- index: rejected_emitters_pkey
SELECT k.address, k.type, k.wraps, k.block_number, EXISTS (
    SELECT FROM rejected_emitters r WHERE r.address = k.address AND r.claim = 'token')
FROM tokens k;
