-- Sets how long each statement of this transaction waits for a lock.
-- params: milliseconds text
-- returns: one row: the setting
-- index: none
SELECT set_config('lock_timeout', %(milliseconds)s, true);
