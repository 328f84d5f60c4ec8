-- Removes some of the addresses of a webhook's list.
-- params: webhook_id bigint, limit integer
-- returns: how many it removed
-- index: webhook_addresses_by_webhook, webhook_addresses_pkey
WITH deleted AS (
    DELETE FROM webhook_addresses
    WHERE webhook_id = %(webhook_id)s AND address IN (
        SELECT address FROM webhook_addresses WHERE webhook_id = %(webhook_id)s ORDER BY address LIMIT %(limit)s)
    RETURNING 1
)
SELECT count(*) FROM deleted;
