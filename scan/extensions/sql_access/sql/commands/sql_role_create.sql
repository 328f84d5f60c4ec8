-- Creates a role that may read the chain but nothing of the service's users. An existing role gets the
-- password and the rights anew.
-- params: name text, password text, statement_timeout text
-- returns: one row: null
-- index: none
SELECT create_reading_role(%(name)s, %(password)s, %(statement_timeout)s);
