-- Webhooks for a benchmark: bench.webhooks idle ones, and one for each address of bench.parties.
INSERT INTO webhooks (id, owner_address, watch_address, url, event_types, created_at)
SELECT n, a, a, 'https://example.com/', '{tx}'::text[], now()
FROM generate_series(1, coalesce(current_setting('bench.webhooks', true), '0')::bigint) n
CROSS JOIN LATERAL (SELECT decode(md5(n::text) || '00000000', 'hex') AS a) AS made
UNION ALL
SELECT 1000000 + n, decode(p, 'hex'), decode(p, 'hex'), 'https://example.com/', '{tx}'::text[], now()
FROM unnest(string_to_array(current_setting('bench.parties', true), ',')) WITH ORDINALITY AS u(p, n)
ON CONFLICT (id) DO NOTHING;

INSERT INTO delivery_queues (webhook_id, host)
SELECT id, 'example.com:443' FROM webhooks
ON CONFLICT (webhook_id) DO NOTHING;
