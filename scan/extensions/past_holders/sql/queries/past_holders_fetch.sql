-- The next rows of the cursor that queries/past_holders_open has opened.
-- params: limit integer
-- returns: rows of the cursor
FETCH %(limit)s FROM past_holders;
