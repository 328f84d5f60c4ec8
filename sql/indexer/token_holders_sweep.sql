-- Deletes the rows of holders that hold nothing any more, so that an unwound fork leaves no trace. It finds
-- them by key alone: an index of rows at zero would lead to all that were removed since the last vacuum,
-- and with a condition on the balance the index by balance would be searched once for each token. Run it
-- without sequential scans.
-- params: holders bytea[], tokens bytea[]
-- literals: none
-- returns: nothing
-- index: token_holders_pkey
DELETE FROM token_holders h
USING unnest(%(holders)s::bytea[], %(tokens)s::bytea[]) AS e (holder, token_address)
WHERE h.holder = e.holder AND h.token_address = e.token_address;
