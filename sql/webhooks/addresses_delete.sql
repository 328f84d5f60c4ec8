-- Removes some of the addresses of a webhook's list.
-- params: webhook_id bigint, limit integer
-- returns: a row for each
-- index: webhook_addresses_by_webhook, webhook_addresses_pkey
DELETE FROM webhook_addresses
WHERE webhook_id = %(webhook_id)s AND address IN (
    SELECT address FROM webhook_addresses WHERE webhook_id = %(webhook_id)s ORDER BY address LIMIT %(limit)s)
RETURNING true;
