-- Changes which events a webhook gets, and when, from the next block on.
-- params: webhook_id bigint, changed text[], direction text null, tokens bytea[] null, minimum_value numeric null,
--   minimum_values jsonb null, confirmations integer null
-- returns: nothing
-- index: webhooks_pkey
UPDATE webhooks
SET direction = CASE WHEN 'direction' = ANY (%(changed)s) THEN %(direction)s ELSE direction END,
    tokens = CASE WHEN 'tokens' = ANY (%(changed)s) THEN %(tokens)s::bytea[] ELSE tokens END,
    minimum_value = CASE WHEN 'minimum_value' = ANY (%(changed)s) THEN %(minimum_value)s::numeric ELSE minimum_value END,
    minimum_values = CASE WHEN 'minimum_values' = ANY (%(changed)s) THEN %(minimum_values)s::jsonb ELSE minimum_values END,
    confirmations = CASE WHEN 'confirmations' = ANY (%(changed)s) THEN %(confirmations)s::integer ELSE confirmations END
WHERE id = %(webhook_id)s;
