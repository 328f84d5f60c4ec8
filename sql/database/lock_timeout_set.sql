-- How long each statement of this transaction waits for a lock.
-- params: milliseconds text
-- returns: nothing of use
-- index: none
SELECT set_config('lock_timeout', %(milliseconds)s, true);
