-- Lets the ids of deliveries go on from the clock where they are behind it: see schema.sql.
-- params: none
-- returns: nothing of use
-- index: none
SELECT advance_delivery_ids();
