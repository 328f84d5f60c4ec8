-- One webhook as lists show it.
-- params: webhook_id bigint
-- returns: no row for one that does not exist; else the record as JSON text
-- index: webhooks_pkey, delivery_queues_pkey
SELECT webhook_record(w, q)::text
FROM webhooks w
JOIN delivery_queues q ON q.webhook_id = w.id
WHERE w.id = %(webhook_id)s;
