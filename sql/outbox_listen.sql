-- Lets this session hear of events that were written, see outbox_notify.sql.
-- params: none
-- returns: nothing
-- index: none
LISTEN scan_outbox;
