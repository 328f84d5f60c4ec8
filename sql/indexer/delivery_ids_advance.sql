-- Lets the ids of deliveries go on from the clock where they are behind it: see advance_delivery_ids() in
-- sql/schema/webhooks.sql.
-- params: none
-- literals: none
-- returns: one row: an id
-- index: none
SELECT advance_delivery_ids();
