-- Those who hold nothing any more have no row: then an unwound fork leaves no trace.
-- params: none
-- returns: nothing
-- index: token_holders_at_zero
DELETE FROM token_holders WHERE balance = 0;
