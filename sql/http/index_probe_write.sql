-- Writes the indexer's status as it is, to tell whether the database takes writes. It waits for nobody.
-- params: none
-- returns: nothing
-- index: indexer_status_pkey
UPDATE indexer_status SET checked_at = checked_at
WHERE only_row IN (SELECT only_row FROM indexer_status FOR UPDATE SKIP LOCKED);
