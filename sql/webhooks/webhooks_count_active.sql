-- How many active webhooks an owner has.
-- params: owner bytea
-- returns: bigint
-- index: webhooks_by_owner
SELECT count(*) FROM webhooks WHERE owner_address = %(owner)s AND active;
