-- Tells whether the server refuses writes, as a standby does.
-- params: none
-- returns: one row: boolean
-- index: none
SELECT current_setting('transaction_read_only')::boolean;
