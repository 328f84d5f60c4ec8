-- Whether the server takes no writes, as a standby.
-- params: none
-- returns: one row: whether it does not
-- index: none
SELECT current_setting('transaction_read_only')::boolean;
