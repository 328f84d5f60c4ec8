-- A role that reads the chain and nothing of the service's users. A role that exists gets the
-- password and the rights anew.
-- params: name text, password text, statement_timeout text
-- returns: one row: null
-- index: none
SELECT create_reading_role(%(name)s, %(password)s, %(statement_timeout)s);
