-- What session_set has noted in this session under the name scan.session.
-- params: none
-- returns: one row: the mark; null or empty without one
-- index: none
SELECT current_setting('scan.session', true);
