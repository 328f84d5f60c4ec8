-- Active webhooks whose maker has no access any more: those of keys that have ended, and where access needs a key, those
-- that nobody who has it made.
-- params: needs_key boolean
-- literals: needs_key
-- returns: id of each, 100 at most
-- index: webhooks_by_key, api_keys_pkey
SELECT w.id
FROM webhooks w
LEFT JOIN api_keys k ON k.id = w.maker_key
WHERE w.active AND (%(needs_key)s OR w.maker_key IS NOT NULL)
    AND w.maker_user IS NULL AND is_in_force(k) IS NOT TRUE
LIMIT 100;
