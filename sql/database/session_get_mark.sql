-- What was set in this session as scan.session, see scan/database/sessions.py.
-- params: none
-- returns: one row: the mark; null or empty without one
-- index: none
SELECT current_setting('scan.session', true);
