-- One of a webhook's deliveries.
-- params: id bigint, webhook_id bigint
-- returns: no row where the webhook has no such delivery; else the record as JSON text
-- index: deliveries_pkey
SELECT delivery_record(d)::text FROM deliveries d WHERE d.id = %(id)s AND d.webhook_id = %(webhook_id)s;
