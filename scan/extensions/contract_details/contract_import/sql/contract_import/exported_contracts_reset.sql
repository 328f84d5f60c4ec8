-- Has contracts that were not verified by an export's sources compiled again.
-- params: none
-- returns: nothing
-- index: none
UPDATE exported_contracts
SET outcome = 'claimed', reason = NULL, due_at = '-infinity', attempts = 0
WHERE reason IS NOT NULL;
