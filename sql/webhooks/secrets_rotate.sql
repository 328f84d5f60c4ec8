-- Gives a webhook another secret; the present one goes on signing until it ends. Removes those that sign no more. The
-- caller has locked its queue.
-- params: webhook_id bigint, secret text, now timestamptz, ends_at timestamptz
-- returns: nothing
-- index: webhook_secrets_pkey, former_secrets_pkey
WITH ended AS (
    DELETE FROM former_secrets
    WHERE webhook_id = %(webhook_id)s AND secret <> ALL (signing_secrets(%(webhook_id)s, %(now)s))
), kept AS (
    INSERT INTO former_secrets (webhook_id, secret, ends_at)
    SELECT webhook_id, secret, %(ends_at)s FROM webhook_secrets WHERE webhook_id = %(webhook_id)s
)
UPDATE webhook_secrets SET secret = %(secret)s WHERE webhook_id = %(webhook_id)s;
