-- The setting scan.session of this session, see scan/database/sessions.py.
-- params: none
-- returns: one row: the setting; null or empty where it was never set
-- index: none
SELECT current_setting('scan.session', true);
