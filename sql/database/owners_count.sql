-- How much of what people gave a database of any version has.
-- params: none
-- returns: one row: the number of API keys and of webhooks
-- index: none
SELECT (SELECT count(*) FROM api_keys), (SELECT count(*) FROM webhooks);
